#include "turn/turn_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::turn_outcome_test {
namespace {

using store::RequestState;

std::uint32_t& count(TurnSummary& summary, Repair repair) {
  return summary.repairs[static_cast<std::size_t>(repair)];
}

// Every member differs from its default and from every other one.
TurnSummary full_summary() {
  TurnSummary summary;
  summary.reason = FinishReason::length;
  summary.known_reason = FinishReason::tool_calls;
  summary.usage = Usage{.prompt_tokens = 1,
                        .completion_tokens = 2,
                        .total_tokens = 3,
                        .cached_tokens = 4,
                        .cache_write_tokens = 8,
                        .reasoning_tokens = 5};
  summary.calls = 6;
  summary.frames_in = 7;
  summary.settled_on = "hermes";
  summary.missed_in = "kimi_k2";
  count(summary, Repair::frame_invalid) = 1;
  count(summary, Repair::id_missing) = 2;
  return summary;
}

class TurnOutcomeTest : public testing::Test {
 protected:
  TurnOutcomeTest() {
    end_.request = "req_1";
    end_.bytes_in = 11;
    end_.error = &error_;
    end_.status = 299;
    end_.upstream = "second";
    end_.session = "session-9";
    end_.attempts = 12;
    end_.bytes_out = 13;
    end_.first_byte_ms = 14;
    end_.first_token_ms = 15;
    end_.total_ms = 16;
    end_.cut = "stop_after_tools";
  }

  Error error_;
  TurnEnd end_;
};

TEST_F(TurnOutcomeTest, has_every_column_of_the_row) {
  store::RequestOutcome expected;
  expected.id = "req_1";
  expected.state = RequestState::completed;
  expected.http_status = 299;
  expected.finish_reason = FinishReason::length;
  expected.upstream = "second";
  expected.dialect = "hermes";
  expected.calls = 6;
  expected.usage = full_summary().usage;
  expected.bytes_in = 11;
  expected.bytes_out = 13;
  expected.frames = 7;
  expected.repairs = 3;
  expected.attempts = 12;
  expected.first_byte_ms = 14;
  expected.first_token_ms = 15;
  expected.total_ms = 16;
  expected.session = "session-9";
  expected.cut = "stop_after_tools";
  expected.repair_names = repair_names(full_summary().repairs);
  expected.missed_call = "kimi_k2";
  EXPECT_EQ(make_outcome(end_, full_summary()), expected);
}

TEST_F(TurnOutcomeTest, says_why_a_turn_failed) {
  error_ = {.code = ErrorCode::timed_out, .message = "too slow"};
  end_.how = TurnEnd::How::failed;
  const store::RequestOutcome outcome = make_outcome(end_, full_summary());
  EXPECT_EQ(outcome.state, RequestState::failed);
  EXPECT_EQ(outcome.error_code, to_string(ErrorCode::timed_out));
  EXPECT_EQ(outcome.error_message, "too slow");
  EXPECT_EQ(outcome.finish_reason, std::nullopt);
}

TEST_F(TurnOutcomeTest, counts_an_answer_that_broke_off_as_failed) {
  TurnSummary summary = full_summary();
  error_ = {.code = ErrorCode::upstream_failed, .message = "cut"};
  EXPECT_EQ(make_outcome(end_, summary).state, RequestState::completed)
      << "a retry answered in the end";
  summary.reason = FinishReason::upstream_error;
  EXPECT_EQ(make_outcome(end_, summary).state, RequestState::failed);
  EXPECT_EQ(make_outcome(end_, summary).finish_reason, FinishReason::upstream_error);
  EXPECT_EQ(make_outcome(end_, summary).error_message, "cut");
  end_.how = TurnEnd::How::gone;
  EXPECT_EQ(make_outcome(end_, summary).state, RequestState::disconnected);
  EXPECT_EQ(make_outcome(end_, summary).error_message, "");
  end_.how = TurnEnd::How::answered;
  error_.message.clear();
  EXPECT_EQ(make_outcome(end_, summary).state, RequestState::completed);
}

TEST_F(TurnOutcomeTest, knows_the_reason_of_a_turn_whose_client_left) {
  end_.how = TurnEnd::How::gone;
  EXPECT_EQ(make_outcome(end_, full_summary()).state, RequestState::disconnected);
  EXPECT_EQ(make_outcome(end_, full_summary()).finish_reason, FinishReason::tool_calls);
  EXPECT_EQ(make_outcome(end_, TurnSummary()).finish_reason, std::nullopt);
}

TEST(RepairNames, lists_each_repair_once_with_its_count) {
  TurnSummary summary;
  EXPECT_EQ(repair_names(summary.repairs), "");
  count(summary, Repair::frame_invalid) = 1;
  EXPECT_EQ(repair_names(summary.repairs), "frame_invalid");
  count(summary, Repair::frame_invalid) = 2;
  EXPECT_EQ(repair_names(summary.repairs), "frame_invalid x2");
  count(summary, Repair::id_missing) = 3;
  const std::string both = repair_names(summary.repairs);
  EXPECT_TRUE(both == "frame_invalid x2, id_missing x3" ||
              both == "id_missing x3, frame_invalid x2")
      << both;
}

TEST(IsSuspicious, when_the_turn_failed_lost_data_or_looks_like_a_call) {
  store::RequestOutcome outcome;
  TurnSummary summary;
  EXPECT_FALSE(is_suspicious(outcome, summary));
  count(summary, Repair::id_missing) = 1;
  EXPECT_FALSE(is_suspicious(outcome, summary)) << "a repair that loses nothing";
  for (const Repair repair : {Repair::frame_invalid, Repair::utf8_invalid}) {
    TurnSummary lossy;
    count(lossy, repair) = 1;
    EXPECT_TRUE(is_suspicious(outcome, lossy));
  }
  summary.missed_in = "hermes";
  EXPECT_TRUE(is_suspicious(outcome, summary));
  outcome.state = RequestState::failed;
  EXPECT_TRUE(is_suspicious(outcome, TurnSummary()));
  outcome.state = RequestState::disconnected;
  EXPECT_FALSE(is_suspicious(outcome, TurnSummary()));
}

TEST(MakeRecord, begins_with_what_is_known_of_the_request) {
  ModelConfig model;
  model.name = "m";
  model.upstream = {"first", "second"};
  const store::RequestRecord record = make_record({.request = "req_1",
                                                   .key = "dev",
                                                   .model = "other",
                                                   .model_id = "id",
                                                   .dialect = "hermes",
                                                   .stream = true},
                                                  model, "openai_chat");
  EXPECT_EQ(record.id, "req_1");
  EXPECT_GT(record.received_at, 0);
  EXPECT_EQ(record.key_name, "dev");
  EXPECT_EQ(record.protocol, "openai_chat");
  EXPECT_EQ(record.model, "m");
  EXPECT_EQ(record.upstream, "first");
  EXPECT_EQ(record.dialect, "hermes");
  EXPECT_TRUE(record.stream);
}

std::string header(const net::Headers& headers, std::string_view name) {
  return std::string(headers.find(name).value_or("(none)"));
}

TEST(Counters, are_headers_of_a_whole_answer) {
  TurnSummary summary;
  PolicyOptions policy;
  net::Headers plain;
  add_counters(plain, summary, policy);
  EXPECT_EQ(header(plain, "x-callgate-usage"), "(none)");
  EXPECT_EQ(header(plain, "x-callgate-tool-call-count"), "0");
  EXPECT_EQ(header(plain, "x-callgate-tool-call-truncated"), "false");
  EXPECT_EQ(header(plain, "x-callgate-stop-after-tools-mode"), to_string(policy.stop_after_tools));
  summary.usage_estimated = true;
  summary.calls = 3;
  summary.withheld_calls = 1;
  policy.stop_after_tools = StopAfterTools::burst;
  net::Headers full;
  add_counters(full, summary, policy);
  EXPECT_EQ(header(full, "x-callgate-usage"), "estimated");
  EXPECT_EQ(header(full, "x-callgate-tool-call-count"), "3");
  EXPECT_EQ(header(full, "x-callgate-tool-call-truncated"), "true");
  EXPECT_EQ(header(full, "x-callgate-stop-after-tools-mode"), "burst");
}

}  // namespace
}  // namespace callgate::server::turn_outcome_test
