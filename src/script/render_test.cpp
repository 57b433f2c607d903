#include "script/render.h"

#include <gmock/gmock.h>

#include "script/reply/reply_testing.h"

namespace callgate::script::render_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Render, writes_each_frame_alone_or_all_at_once_or_in_slices) {
  EXPECT_EQ(play("text \"a\" \"b\"").actions.size(), 5u);
  EXPECT_EQ(play("write all\ntext \"a\" \"b\"").actions.size(), 1u);
  const Played sliced = play("write 7\ntext \"a\" \"b\"");
  EXPECT_EQ(sliced.bytes, play("text \"a\" \"b\"").bytes);
  EXPECT_EQ(sliced.actions.size(), (sliced.bytes.size() + 6) / 7);
  EXPECT_EQ(sliced.actions.front(), "write 7");
}

TEST(Render, waits_before_each_frame_and_where_a_delay_stands) {
  const Played played = play("text \"a\"\ndelay 50ms\npace 10ms\ntext \"b\"\npace 0ms\n");
  ASSERT_EQ(played.actions.size(), 7u);
  EXPECT_EQ(played.actions[2], "wait 50");
  EXPECT_EQ(played.actions[3], "wait 10");
  EXPECT_EQ(played.actions[5].substr(0, 5), "write");
  EXPECT_THAT(play("write all\npace 10ms\ntext \"b\"").actions, Contains("wait 10").Times(4));
}

TEST(Render, cuts_text_and_arguments) {
  const std::string bytes =
      play("cut text words\ncut arguments 4\ntext \"It is\"\ncall f {\"a\":12}").bytes;
  EXPECT_THAT(bytes, HasSubstr(R"({"content":"It "})"));
  EXPECT_THAT(bytes, HasSubstr(R"({"content":"is"})"));
  EXPECT_THAT(bytes, HasSubstr(R"("arguments":"{\"a\"")"));
  EXPECT_THAT(bytes, HasSubstr(R"("arguments":":12}")"));
}

TEST(Render, can_cut_inside_a_character) {
  EXPECT_THAT(play("cut 1 bytes\ntext \"\xC3\xA9\"").bytes, HasSubstr("\"content\":\"\xC3\"}"));
  EXPECT_THAT(play("cut 1\ntext \"\xC3\xA9\"").bytes, HasSubstr("\"content\":\"\xC3\xA9\"}"));
}

TEST(Render, repeats_and_writes_frames_and_bytes_verbatim) {
  const Played played = play("frame {\"a\": 1}\nraw \"data: cut\"\nrepeat 2 {\ntext \"x\"\n}");
  EXPECT_THAT(played.bytes, HasSubstr("data: {\"a\": 1}\n\ndata: cut"));
  EXPECT_EQ(count_in(played.bytes, "\"content\":\"x\""), 2u);
}

TEST(Render, ends_the_connection_where_the_script_says) {
  for (const auto& [step, action] :
       {std::pair("abort", "reset"), {"close", "close"}, {"hang", "hang"}}) {
    const Played played = play("text \"a\"\n" + std::string(step) + "\ntext \"never\"");
    EXPECT_EQ(played.actions.back(), action);
    EXPECT_THAT(played.bytes, Not(HasSubstr("finish_reason\":\"")));
    EXPECT_THAT(played.bytes, Not(HasSubstr("never")));
    EXPECT_THAT(play("text \"a\"\n" + std::string(step), user_request("Hi", false)).actions,
                ElementsAre(action));
  }
}

TEST(Render, truncates_at_every_byte) {
  const std::string whole = play("text \"a\"").bytes;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const Played played = play("truncate " + std::to_string(size) + "\ntext \"a\"");
    EXPECT_EQ(played.bytes, whole.substr(0, size));
    EXPECT_EQ(played.actions.back(), "close");
  }
  EXPECT_EQ(play("truncate 100000\ntext \"a\"").bytes, whole);
}

TEST(Render, sends_the_head_alone_when_asked) {
  EXPECT_THAT(play("head\nhang").actions, ElementsAre("write 0", "hang"));
}

TEST(Render, answers_with_a_status_a_body_and_headers) {
  const Played json = play("delay 5ms\nstatus 200 {\"error\": {\"message\": \"no\"}}");
  EXPECT_THAT(json.actions, ElementsAre("wait 5", "respond 200"));
  EXPECT_EQ(json.body, "{\"error\": {\"message\": \"no\"}}");
  EXPECT_EQ(play("status 200 \"\"").body, "");
  EXPECT_EQ(play("status 500 <<END\n<html>\nEND\n").body, "<html>\n");
  ScriptedModel model(script_of("status 500 <<END\n<html>\nEND\n"));
  EXPECT_EQ(model.reply(user_request()).headers()[0].second, "text/html");
}

TEST(Render, puts_what_follows_done_after_the_end) {
  const std::vector<std::string> frames = frames_of(play("text \"a\"\ndone\ntext \"late\"").bytes);
  EXPECT_EQ(frames.at(3), "[DONE]");
  EXPECT_THAT(frames.at(4), HasSubstr("late"));
  EXPECT_THAT(play("no_done\ntext \"a\"").bytes, Not(HasSubstr("[DONE]")));
  EXPECT_EQ(count_in(play("text \"a\"\nfinish length").bytes, "\"finish_reason\":\"length\""), 1u);
}

TEST(Render, writes_calls_as_function_call_for_a_caller_that_used_functions) {
  Request request = user_request();
  request.legacy_functions = true;
  const std::string bytes = play("call f {\"a\":1}", request).bytes;
  EXPECT_THAT(bytes, HasSubstr(R"({"function_call":{"name":"f","arguments":""}})"));
  EXPECT_THAT(bytes, HasSubstr(R"("finish_reason":"function_call")"));
  request.stream = false;
  EXPECT_THAT(play("call f {\"a\":1}", request).body,
              HasSubstr(R"("function_call":{"name":"f","arguments":"{\"a\":1}"})"));
}

}  // namespace
}  // namespace callgate::script::render_test
