#include "policy/call_whitespace.h"

#include "policy/policy_testing.h"

namespace callgate::policy::call_whitespace_test {
namespace {

std::string passed(const std::vector<Event>& events, std::size_t max_held_back = 1000) {
  CallWhitespace stage(max_held_back);
  return run(stage, events);
}

TEST(CallWhitespace, goes_directly_before_a_call_in_the_text) {
  EXPECT_EQ(passed(turn({text("Look.\n"), text("\n \t"), text_call(0, "f", "{}"), text("\r\n"),
                         text_call(1, "f", "{}"), finish_calls()})),
            "text \"Look.\"\ncall 0 f\nargs 0 {}\nend 0 complete\n"
            "call 1 f\nargs 1 {}\nend 1 complete\nfinish tool_calls\n");
}

TEST(CallWhitespace, stays_before_a_structured_call) {
  EXPECT_EQ(passed(turn({text("Let me look. "), call(0, "f", "{}"), text("\n"), call(1, "f", "{}"),
                         text("Sunny."), finish_calls()})),
            "text \"Let me look. \"\ncall 0 f\nargs 0 {}\nend 0 complete\ntext \"\\n\"\n"
            "call 1 f\nargs 1 {}\nend 1 complete\ntext \"Sunny.\"\nfinish tool_calls\n");
}

TEST(CallWhitespace, keeps_one_byte_where_words_would_be_joined) {
  EXPECT_EQ(passed(turn({text("Look. \n"), text_call(0, "f", ""), text_call(1, "f", ""),
                         text("Sunny"), text("!"), finish_calls()})),
            "text \"Look.\"\ncall 0 f\nend 0 complete\ncall 1 f\nend 1 complete\n"
            "text \"\\nSunny!\"\nfinish tool_calls\n");
}

TEST(CallWhitespace, keeps_nothing_where_the_text_goes_on_with_white_space_or_never_began) {
  EXPECT_EQ(passed(turn({text("Look.\n"), text_call(0, "f", ""), text(" Sunny"), finish_calls()})),
            "text \"Look.\"\ncall 0 f\nend 0 complete\ntext \" Sunny\"\nfinish tool_calls\n");
  EXPECT_EQ(passed(turn({text("\n"), text_call(0, "f", ""), text("Sunny"), finish_calls()})),
            "call 0 f\nend 0 complete\ntext \"Sunny\"\nfinish tool_calls\n");
}

TEST(CallWhitespace, joins_no_words_across_reasoning) {
  EXPECT_EQ(
      passed(turn({text("a "), text_call(0, "f", ""), reasoning("r"), text("b"), finish_calls()})),
      "text \"a\"\ncall 0 f\nend 0 complete\nreasoning \"r\"\ntext \" b\"\n"
      "finish tool_calls\n");
}

TEST(CallWhitespace, stays_after_text_in_a_round_of_a_loop) {
  CallWhitespace stage(1000, SpaceBeforeCall::keep_after_text);
  EXPECT_EQ(run(stage, turn({text("\n"), text_call(0, "f", ""), text("Look. "),
                             text_call(1, "f", ""), finish_calls()})),
            "call 0 f\nend 0 complete\ntext \"Look. \"\ncall 1 f\nend 1 complete\n"
            "finish tool_calls\n");
}

TEST(CallWhitespace, passes_before_text_reasoning_and_the_end) {
  EXPECT_EQ(passed(turn({text(" a "), text(" b"), text("\n"), reasoning("r"), text("c\n"),
                         finish(FinishReason::stop)})),
            "text \" a  b\\n\"\nreasoning \"r\"\ntext \"c\\n\"\nfinish stop\n");
}

TEST(CallWhitespace, passes_after_the_last_call) {
  EXPECT_EQ(passed(turn({call(0, "f", ""), text("\n"), finish_calls()})),
            "call 0 f\nend 0 complete\ntext \"\\n\"\nfinish tool_calls\n");
}

TEST(CallWhitespace, leaves_with_the_text_that_follows_in_one_delta) {
  CallWhitespace stage(1000);
  std::vector<std::string> deltas;
  class Deltas final : public EventSink {
   public:
    explicit Deltas(std::vector<std::string>& into) : into_(into) {}
    void accept(const Event& event) override {
      into_.emplace_back(std::get<TextDelta>(event).text);
    }

   private:
    std::vector<std::string>& into_;
  } sink(deltas);
  for (const std::string_view words : {"one ", "two ", "three"}) {
    stage.push(TextDelta{words}, sink);
  }
  EXPECT_EQ(deltas, (std::vector<std::string>{"one", " two", " three"}));
}

TEST(CallWhitespace, stays_held_back_while_fields_are_reported) {
  EXPECT_EQ(passed(turn({text("a\n"),
                         {FieldReported{FieldReported::Scope::choice, "logprobs", "{}"}},
                         text_call(0, "f", ""),
                         finish_calls()})),
            "text \"a\"\nfield logprobs {}\ncall 0 f\nend 0 complete\nfinish tool_calls\n");
}

TEST(CallWhitespace, is_text_when_there_is_too_much_of_it) {
  EXPECT_EQ(passed(turn({text("\n\n\n"), text("\n"), text_call(0, "f", ""), finish_calls()}), 2),
            "text \"\\n\\n\\n\"\ncall 0 f\nend 0 complete\nfinish tool_calls\n");
}

}  // namespace
}  // namespace callgate::policy::call_whitespace_test
