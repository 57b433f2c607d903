#include "script/message_text.h"

#include "script/reply/reply_testing.h"

namespace callgate::script::message_text_test {
namespace {

TEST(MessageText, joins_the_text_of_parts) {
  EXPECT_EQ(any_text_of({R"("a\nb")"}), "a\nb");
  EXPECT_EQ(
      any_text_of({R"([{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},)"
                   R"({"text":"b","type":"text"}])"}),
      "a\nb");
  EXPECT_EQ(any_text_of({"null"}), "");
  EXPECT_EQ(any_text_of({""}), "");
  EXPECT_EQ(any_text_of({R"({"ok":true})"}), R"({"ok":true})");
  EXPECT_EQ(any_text_of({"[1,[2],\"c\"]"}), "c");
}

TEST(MessageText, counts_a_quarter_of_the_bytes_rounded_up) {
  EXPECT_EQ(count_of(0), 0);
  EXPECT_EQ(count_of(1), 1);
  EXPECT_EQ(count_of(4), 1);
  EXPECT_EQ(count_of(5), 2);
  EXPECT_EQ(prompt_count(user_request("Hi")), 1);
}

TEST(MessageText, finds_the_last_message_of_a_role) {
  Request request = user_request("one");
  request.messages.push_back(message(Role::user, "two"));
  request.messages.push_back(message(Role::assistant, "three"));
  EXPECT_EQ(last_text(request, Role::user), "two");
  EXPECT_EQ(last_text(request, Role::tool), "");
  EXPECT_EQ(turn_number(request), 1u);
}

}  // namespace
}  // namespace callgate::script::message_text_test
