#include "turn/turn_record.h"

#include <gtest/gtest.h>

namespace callgate::server::turn_record_test {
namespace {

const SecretMask kMask({"top-secret"});

Request asked(std::string_view text) {
  Request request;
  request.messages.push_back({.role = Role::user, .content = {"\"first\""}});
  request.messages.push_back(
      {.role = Role::user,
       .content = {"[{\"type\":\"text\",\"text\":\"" + std::string(text) + "\"}]"}});
  request.messages.push_back({.role = Role::assistant, .content = {"\"said\""}});
  return request;
}

TEST(TurnRecord, hands_on_what_was_asked_sent_and_answered_without_secrets) {
  TurnRecord record(kMask, 100);
  store::RequestRecord begun{.session = "top-secret"};
  record.begin(begun, "{\"k\":\"top-secret\"}", asked("why top-secret?"));
  EXPECT_EQ(begun.received, "{\"k\":\"**********\"}");
  EXPECT_EQ(begun.session, "**********");
  record.sent("first");
  record.sent("second top-secret");
  record.ended({.response = "{top-secret}", .events = "[top-secret]", .search = "f\ntop-secret"});
  store::RequestOutcome outcome{.error_message = "bad key top-secret"};
  record.complete(outcome);
  EXPECT_EQ(outcome.sent, "second **********");
  EXPECT_EQ(outcome.response, "{**********}");
  EXPECT_EQ(outcome.events, "[**********]");
  EXPECT_EQ(outcome.search, "why **********?\nf\n**********");
  EXPECT_EQ(outcome.error_message, "bad key **********");
}

TEST(TurnRecord, keeps_calls_but_no_content_where_that_is_not_wanted) {
  TurnRecord record(kMask, 0);
  store::RequestRecord begun;
  record.begin(begun, "body", asked("x"));
  record.sent("sent");
  record.responded("response");
  record.turn_started("r1");
  record.call_started({.call = 0, .name = "f", .id = "c0"});
  record.call_finished({.call = 0, .outcome = CallOutcome::malformed});
  record.call_started({.call = 1, .name = "g", .id = "c1"});
  store::RequestOutcome outcome;
  record.complete(outcome);
  EXPECT_EQ(begun.received + outcome.sent + outcome.response + outcome.events + outcome.search, "");
  ASSERT_EQ(outcome.call_rows.size(), 2u);
  EXPECT_EQ(outcome.call_rows[0].name, "f");
  EXPECT_EQ(outcome.call_rows[0].outcome, CallOutcome::malformed);
  EXPECT_EQ(outcome.call_rows[1].id, "c1");
  EXPECT_EQ(outcome.call_rows[1].outcome, CallOutcome::truncated);
}

TEST(TurnRecord, forgets_the_calls_of_an_attempt_that_was_thrown_away) {
  TurnRecord record(kMask, 100);
  record.turn_started("r1");
  record.call_started({.call = 0, .name = "f", .id = "c0"});
  record.turn_started("r2");
  record.call_started({.call = 0, .name = "g", .id = "c1"});
  record.ended({.reason = FinishReason::tool_calls});  // the client left with a whole call
  store::RequestOutcome outcome;
  record.complete(outcome);
  ASSERT_EQ(outcome.call_rows.size(), 1u);
  EXPECT_EQ(outcome.call_rows[0].name, "g");
  EXPECT_EQ(outcome.call_rows[0].outcome, CallOutcome::complete);
  EXPECT_EQ(outcome.finish_reason, FinishReason::tool_calls);
}

TEST(TurnRecord, keeps_no_more_than_the_beginning_of_long_names) {
  TurnRecord record(kMask, 0);
  const std::string name(100'000, 'f');
  const std::string id(100'000, 'c');
  record.turn_started("r1");
  record.call_started({.call = 0, .name = name, .id = id});
  record.call_result(id, name, {.text = "done"});
  store::RequestOutcome outcome;
  record.complete(outcome);
  ASSERT_EQ(outcome.call_rows.size(), 1u);
  EXPECT_LT(outcome.call_rows[0].name.size() + outcome.call_rows[0].id.size(), 2'000u);
  EXPECT_TRUE(outcome.call_rows[0].result.has_value());
}

TEST(TurnRecord, keeps_results_of_its_own_runs_bounded_and_masked) {
  for (const bool content : {true, false}) {
    TurnRecord record(kMask, content ? 100 : 0);
    record.call_started({.call = 0, .name = "f", .id = "c0"});
    record.call_started({.call = 1, .name = "f", .id = "c0"});
    record.call_result("c0", "f", {.round = 1, .bytes = 5'000, .text = std::string(5'000, 'x')});
    record.call_result("call_2", "f", {.is_error = true, .text = "key top-secret is wrong"});
    record.call_result("c9", "g", {.text = "unknown"});
    store::RequestOutcome outcome;
    record.complete(outcome);
    ASSERT_EQ(outcome.call_rows.size(), 2u);
    const store::CallRow& first = outcome.call_rows[0];
    const store::CallRow& second = outcome.call_rows[1];
    EXPECT_EQ(first.result->bytes, 5'000);
    EXPECT_EQ(first.result->text.size(), content ? store::kLongestText : 0);
    EXPECT_EQ(second.id, "call_2") << "the loop gave it another id";
    EXPECT_TRUE(second.result->is_error);
    EXPECT_EQ(second.result->text.find("top-secret"), std::string::npos);
    EXPECT_EQ(second.result->text.empty(), !content);
  }
}

TEST(TurnRecord, cuts_what_is_searched_at_whole_characters) {
  std::string umlauts;
  for (int i = 0; i < 3000; ++i) umlauts += "ü";
  TurnRecord record(kMask, 100);
  store::RequestRecord begun;
  record.begin(begun, "", asked("x" + umlauts));
  record.ended({.search = umlauts});
  store::RequestOutcome outcome;
  record.complete(outcome);
  EXPECT_LE(outcome.search.size(), store::kLongestText);
  EXPECT_GE(outcome.search.size(), store::kLongestText - 4);
  EXPECT_TRUE(outcome.search.ends_with("ü"));
  EXPECT_NE(outcome.search.find("ü\nü"), std::string::npos);
}

TEST(TurnRecord, keeps_no_response_of_a_turn_that_was_too_long) {
  TurnRecord record(kMask, 100);
  record.responded("long");
  record.ended({.events = "[{\"type\":\"too_long\",\"bytes\":101}]", .too_long = true});
  store::RequestOutcome outcome;
  record.complete(outcome);
  EXPECT_EQ(outcome.response, "");
  EXPECT_NE(outcome.events, "");
}

TEST(LogsContent, unless_the_store_the_key_or_the_model_says_no) {
  Config config;
  KeyConfig key;
  ModelConfig model;
  EXPECT_TRUE(logs_content(config, &key, model));
  EXPECT_TRUE(logs_content(config, nullptr, model));
  key.log_content = false;
  EXPECT_FALSE(logs_content(config, &key, model));
  model.log_content = false;
  EXPECT_FALSE(logs_content(config, nullptr, model));
  model.log_content = true;
  config.store.content = false;
  EXPECT_FALSE(logs_content(config, nullptr, model));
  config.store.content = true;
  config.store.url = "none";
  EXPECT_FALSE(logs_content(config, nullptr, model));
}

}  // namespace
}  // namespace callgate::server::turn_record_test
