#include "upstream/transcript.h"

#include <gtest/gtest.h>

namespace callgate::upstream::transcript_test {
namespace {

Message say(Role role, std::string_view text) {
  Message message;
  message.role = role;
  message.content.text = "\"" + std::string(text) + "\"";
  return message;
}

TEST(Transcript, leaves_a_single_message_as_it_is) {
  const std::vector<Message> messages{say(Role::user, R"(Hi \"you\")")};
  EXPECT_EQ(to_transcript(messages), R"(Hi "you")");
}

TEST(Transcript, puts_a_heading_over_each_of_several_messages) {
  EXPECT_EQ(to_transcript(std::vector{say(Role::developer, "Be brief."), say(Role::user, "Hi")}),
            "[system]\nBe brief.\n\n[user]\nHi");
}

TEST(Transcript, tells_calls_and_all_results) {
  std::vector<Message> messages{say(Role::user, "Weather?"), say(Role::assistant, "Let me look."),
                                say(Role::tool, "18"), say(Role::tool, ""), say(Role::user, "So?")};
  messages[1].calls = {{.id = "c1", .name = "find", .arguments = "{\"q\":1}", .extra = {}},
                       {.id = "c2", .name = "add", .arguments = "{}", .extra = {}}};
  messages[2].tool_call_id = "c1";
  messages[3].tool_call_id = "c2";
  EXPECT_EQ(to_transcript(messages),
            "This is a conversation so far. Answer its last message.\n\n"
            "[user]\nWeather?\n\n"
            "[assistant]\nLet me look.\n(called find c1: {\"q\":1})\n(called add c2: {})\n\n"
            "[tool find c1]\n18\n\n"
            "[tool add c2]\n(no output)\n\n"
            "[user]\nSo?");
}

TEST(Transcript, says_when_an_answer_is_to_be_continued) {
  const std::string text =
      to_transcript(std::vector{say(Role::user, "Count."), say(Role::assistant, "1, 2,")});
  EXPECT_TRUE(text.starts_with("This is a conversation so far. Go on where")) << text;
  EXPECT_TRUE(text.ends_with("[assistant]\n1, 2,")) << text;
}

TEST(Transcript, knows_what_was_answered) {
  using enum Role;
  const struct {
    std::vector<Role> roles;
    std::size_t answered;
  } cases[] = {
      {{}, 0},
      {{user}, 0},
      {{system, user}, 0},
      {{user, assistant}, 0},
      {{user, assistant, user}, 2},
      {{user, assistant, tool, tool}, 2},
      {{user, assistant, user, assistant, tool, user}, 4},
      {{user, assistant, user, assistant}, 2},
      {{user, assistant, assistant, user}, 3},
  };
  for (const auto& [roles, expected] : cases) {
    std::vector<Message> messages;
    for (const Role role : roles) messages.push_back(say(role, "x"));
    EXPECT_EQ(answered(messages), expected) << roles.size();
  }
}

}  // namespace
}  // namespace callgate::upstream::transcript_test
