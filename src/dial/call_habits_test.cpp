#include "dial/call_habits.h"

#include <gtest/gtest.h>

namespace callgate::server::call_habits_test {
namespace {

class CallHabitsTest : public testing::Test {
 protected:
  // A turn of the model, read by `dialect`.
  void turn(std::string_view dialect, const TurnSummary& summary) {
    learn_calls(dialect::find(dialect), summary, "u", "m", habits_, log_);
  }
  bool searches(std::string_view dialect, std::string_view upstream = "u",
                bool as_text = false) const {
    return may_write_calls(dialect::find(dialect), habits_, upstream, "m", as_text);
  }

  CallHabits habits_;
  std::string said_;
  telemetry::Logger log_{{.write = [this](std::string_view line) { said_ += line; }}};
};

TEST_F(CallHabitsTest, takes_an_upstream_that_reported_a_call_for_native) {
  EXPECT_TRUE(searches("auto"));
  turn("auto", {.structured_calls = true});
  EXPECT_FALSE(searches("auto"));
  EXPECT_TRUE(searches("auto", "other"));
  EXPECT_TRUE(searches("auto", "u", true));
  EXPECT_TRUE(searches("hermes"));
}

TEST_F(CallHabitsTest, learns_nothing_from_turns_without_calls_and_from_chosen_dialects) {
  turn("auto", {});
  turn("hermes", {.structured_calls = true});
  EXPECT_TRUE(searches("auto"));
  EXPECT_EQ(said_, "");
}

TEST_F(CallHabitsTest, logs_once_per_model_that_a_call_was_read_from_text) {
  turn("auto", {.settled_on = "hermes"});
  turn("auto", {.settled_on = "hermes"});
  EXPECT_NE(said_.find(R"(dialect = "hermes")"), std::string::npos) << said_;
  EXPECT_NE(said_.find(R"(dialect = "native")"), std::string::npos) << said_;
  EXPECT_EQ(said_.find("a tool call was read"), said_.rfind("a tool call was read"));
}

}  // namespace
}  // namespace callgate::server::call_habits_test
