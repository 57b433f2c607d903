#include "chat/replayed_calls.h"

#include <gtest/gtest.h>

namespace callgate::replayed_calls_test {
namespace {

Message said(Role role, std::string content) {
  Message message;
  message.role = role;
  message.content.text = std::move(content);
  return message;
}

TEST(ReplayedCalls, are_whole_blocks_of_text) {
  const std::pair<const char*, const char*> rows[] = {
      {"Hello.", "Hello."},
      {"I look.\n<use_tool>\n<name>a</name>\n</use_tool>\n", "I look."},
      {"<tool_call>{}</tool_call><tool_result name=\"a\">x < y</tool_result> Done.", "Done."},
      {"What does <tool_call> mean?", "What does <tool_call> mean?"},
      {"a < b and <tool_calling>x</tool_calling>", "a < b and <tool_calling>x</tool_calling>"},
      {"<function_results>\n1\n</function_results>", ""},
  };
  for (const auto& [in, out] : rows) EXPECT_EQ(without_replayed_calls(in), out) << in;
}

TEST(ReplayedCalls, are_found_and_stripped_where_people_and_models_speak) {
  std::vector<Message> messages{
      said(Role::system, R"("Write <use_tool></use_tool>.")"), said(Role::user, R"("Hi")"),
      said(Role::assistant, R"("<use_tool><name>a</name></use_tool>")"),
      said(
          Role::user,
          R"([{"type":"text","text":"See <tool_result>x</tool_result>"},{"type":"image_url","image_url":{"url":"u"}}])")};
  EXPECT_EQ(find_replayed_calls(messages), std::optional<std::size_t>(2));
  strip_replayed_calls(messages);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].content.text, R"("Write <use_tool></use_tool>.")");
  EXPECT_EQ(messages[2].content.text,
            R"([{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"u"}}])");
  EXPECT_EQ(find_replayed_calls(messages), std::nullopt);
}

TEST(ReplayedCalls, cost_no_more_where_tags_stay_open) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "<tool_call>";
  EXPECT_EQ(without_replayed_calls(text), text);
}

}  // namespace
}  // namespace callgate::replayed_calls_test
