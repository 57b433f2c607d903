// What a turn leaves in metrics and in the log.
#include "turn/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::observe_test {
namespace {

using store::RequestState;
using testing::HasSubstr;
using testing::Not;

class ObserveTest : public testing::Test {
 protected:
  static std::uint32_t& count(TurnSummary& summary, Repair repair) {
    return summary.repairs[static_cast<std::size_t>(repair)];
  }
  static std::uint32_t& calls(TurnSummary& summary, CallOutcome outcome) {
    return summary.outcomes[static_cast<std::size_t>(outcome)];
  }
  void end(store::RequestOutcome outcome, const TurnSummary& summary = {}) {
    outcome.id = "req_1";
    observe_end(world_, labels_, std::move(outcome), summary);
  }
  std::string metrics() const { return metrics_.render(); }

  const TurnLabels labels_{.request = "req_1", .trace = "abc", .model = "m", .dialect = "hermes"};
  std::string lines_;
  telemetry::Logger log_{{.level = telemetry::LogLevel::debug,
                          .write = [this](std::string_view line) { lines_ += line; }}};
  telemetry::Metrics metrics_;
  store::NullRequestLog requests_;
  World world_{log_, metrics_, requests_, 0};
};

TEST_F(ObserveTest, counts_a_request_by_its_status_and_times_it) {
  store::RequestOutcome outcome;
  outcome.http_status = 200;
  outcome.total_ms = 2'000;
  outcome.first_token_ms = 1'000;
  end(outcome);
  EXPECT_THAT(metrics(), HasSubstr("callgate_requests_total{model=\"m\",status=\"2xx\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_request_duration_seconds_sum{model=\"m\"} 2\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_time_to_first_token_seconds_sum{model=\"m\"} 1\n"));
  EXPECT_THAT(metrics(), Not(HasSubstr("callgate_client_disconnects_total 1")));
  EXPECT_THAT(metrics(), Not(HasSubstr("callgate_errors_total{")));
  EXPECT_EQ(lines_, "");
  outcome.first_token_ms.reset();
  end(outcome);
  EXPECT_THAT(metrics(), HasSubstr("callgate_time_to_first_token_seconds_count{model=\"m\"} 1\n"));
}

TEST_F(ObserveTest, counts_a_client_that_left_as_such) {
  store::RequestOutcome outcome;
  outcome.state = RequestState::disconnected;
  outcome.http_status = 200;
  end(outcome);
  EXPECT_THAT(metrics(),
              HasSubstr("callgate_requests_total{model=\"m\",status=\"disconnected\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_client_disconnects_total 1\n"));
}

TEST_F(ObserveTest, counts_and_logs_a_failure) {
  store::RequestOutcome outcome;
  outcome.state = RequestState::failed;
  outcome.http_status = 503;
  outcome.error_code = "unavailable";
  outcome.error_message = "busy";
  end(outcome);
  EXPECT_THAT(metrics(), HasSubstr("callgate_requests_total{model=\"m\",status=\"5xx\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_errors_total{code=\"unavailable\"} 1\n"));
  EXPECT_THAT(lines_,
              HasSubstr("request failed request=req_1 trace=abc code=unavailable error=busy\n"));
}

TEST_F(ObserveTest, counts_what_happened_in_the_turn) {
  TurnSummary summary;
  summary.usage = Usage{.prompt_tokens = 1,
                        .completion_tokens = 2,
                        .total_tokens = 3,
                        .cached_tokens = 4,
                        .cache_write_tokens = 0,
                        .reasoning_tokens = 5};
  summary.frames_in = 6;
  summary.withheld_calls = 7;
  summary.missed_in = "kimi_k2";
  summary.cut = true;
  summary.held_back_deltas = 8;
  summary.held_back_bytes = 9;
  count(summary, Repair::id_missing) = 10;
  end({}, summary);
  const std::string page = metrics();
  for (const char* line :
       {"callgate_tokens_total{model=\"m\",kind=\"prompt\"} 1\n",
        "callgate_tokens_total{model=\"m\",kind=\"completion\"} 2\n",
        "callgate_tokens_total{model=\"m\",kind=\"cached\"} 4\n",
        "callgate_tokens_total{model=\"m\",kind=\"reasoning\"} 5\n",
        "callgate_upstream_frames_total 6\n", "callgate_withheld_calls_total{model=\"m\"} 7\n",
        "callgate_missed_calls_total{model=\"m\",dialect=\"kimi_k2\"} 1\n",
        "callgate_turns_cut_total{model=\"m\"} 1\n",
        "callgate_held_back_deltas_total{dialect=\"hermes\"} 8\n",
        "callgate_held_back_bytes_total{dialect=\"hermes\"} 9\n",
        "callgate_repairs_total{model=\"m\",repair=\"id_missing\"} 10\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
  EXPECT_EQ(lines_, "");
}

TEST_F(ObserveTest, a_turn_in_which_nothing_happened_makes_no_series) {
  end({});
  for (const char* name : {"tokens", "withheld_calls", "missed_calls", "turns_cut",
                           "held_back_deltas", "held_back_bytes", "repairs", "calls"}) {
    EXPECT_THAT(metrics(), Not(HasSubstr("callgate_" + std::string(name) + "_total{"))) << name;
  }
}

TEST_F(ObserveTest, counts_calls_by_the_dialect_that_they_were_found_in) {
  TurnSummary native;
  calls(native, CallOutcome::complete) = 1;
  end({}, native);
  TurnSummary in_text;
  in_text.text_calls = 2;
  calls(in_text, CallOutcome::complete) = 2;
  calls(in_text, CallOutcome::malformed) = 3;
  end({}, in_text);
  in_text.settled_on = "kimi_k2";
  end({}, in_text);
  const std::string page = metrics();
  const auto line = [](std::string_view dialect, std::string_view outcome, int value) {
    return "callgate_calls_total{model=\"m\",dialect=\"" + std::string(dialect) + "\",outcome=\"" +
           std::string(outcome) + "\"} " + std::to_string(value) + "\n";
  };
  EXPECT_THAT(page, HasSubstr(line("native", "complete", 1)));
  EXPECT_THAT(page, HasSubstr(line("hermes", "complete", 2)));
  EXPECT_THAT(page, HasSubstr(line("hermes", "malformed", 3)));
  EXPECT_THAT(page, HasSubstr(line("kimi_k2", "complete", 2)));
  EXPECT_THAT(page, Not(HasSubstr("outcome=\"truncated\"")));
}

TEST_F(ObserveTest, warns_once_of_frames_that_are_not_json) {
  TurnSummary summary;
  count(summary, Repair::frame_invalid) = 3;
  store::RequestOutcome outcome;
  outcome.upstream = "main";
  end(outcome, summary);
  EXPECT_THAT(lines_, HasSubstr("upstream sent frames that are not JSON request=req_1 trace=abc "
                                "upstream=main frames=3\n"));
}

TEST_F(ObserveTest, counts_tries_at_upstreams) {
  const Error error{.code = ErrorCode::timed_out, .message = "slow"};
  observe_upstream(world_, "a", nullptr);
  EXPECT_THAT(metrics(),
              HasSubstr("callgate_upstream_requests_total{upstream=\"a\",result=\"ok\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_upstream_up{upstream=\"a\"} 1\n"));
  observe_upstream(world_, "a", &error);
  EXPECT_THAT(metrics(),
              HasSubstr("callgate_upstream_requests_total{upstream=\"a\",result=\"failed\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_upstream_up{upstream=\"a\"} 0\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_upstream_errors_total{upstream=\"a\",code=\"" +
                                   std::string(to_string(ErrorCode::timed_out)) + "\"} 1\n"));
  observe_retry(world_, labels_, "a", error);
  EXPECT_THAT(metrics(), HasSubstr("callgate_upstream_retries_total{upstream=\"a\"} 1\n"));
  EXPECT_THAT(lines_, HasSubstr("trying again request=req_1 trace=abc upstream=a error=slow\n"));
}

TEST_F(ObserveTest, counts_runs_loops_and_refusals) {
  observe_tool_run(world_, "find", "ok", Milliseconds(2'000));
  observe_tool_run(world_, "find", "cancelled", std::nullopt);
  observe_loop(world_, "m", "completed");
  observe_auth_failure(world_);
  observe_rate_limited(world_, "dev");
  const std::string page = metrics();
  for (const char* line :
       {"callgate_tool_runs_total{tool=\"find\",outcome=\"ok\"} 1\n",
        "callgate_tool_runs_total{tool=\"find\",outcome=\"cancelled\"} 1\n",
        "callgate_tool_duration_seconds_count{tool=\"find\"} 1\n",
        "callgate_tool_duration_seconds_sum{tool=\"find\"} 2\n", "callgate_auth_failures_total 1\n",
        "callgate_rate_limited_total{key=\"dev\"} 1\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
  EXPECT_THAT(page, HasSubstr("callgate_loops_total{model=\"m\",end=\"completed\"} 1\n"));
}

TEST_F(ObserveTest, tells_of_a_child_program) {
  const ChildHealth health = observe_child(world_, "codex");
  health.up(true);
  health.restarted();
  health.log("it broke");
  EXPECT_THAT(metrics(), HasSubstr("callgate_codex_child_up{upstream=\"codex\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_codex_child_restarts_total{upstream=\"codex\"} 1\n"));
  EXPECT_THAT(lines_, HasSubstr("child upstream=codex said=\"it broke\"\n"));
  health.up(false);
  EXPECT_THAT(metrics(), HasSubstr("callgate_codex_child_up{upstream=\"codex\"} 0\n"));
}

TEST_F(ObserveTest, shows_what_runs_now) {
  {
    const StreamGauge stream(world_);
    const LoopGauge loop(world_);
    EXPECT_THAT(metrics(), HasSubstr("callgate_streams_active 1\n"));
    EXPECT_THAT(metrics(), HasSubstr("callgate_loops_active 1\n"));
  }
  EXPECT_THAT(metrics(), HasSubstr("callgate_streams_active 0\n"));
  EXPECT_THAT(metrics(), HasSubstr("callgate_loops_active 0\n"));
}

}  // namespace
}  // namespace callgate::server::observe_test
