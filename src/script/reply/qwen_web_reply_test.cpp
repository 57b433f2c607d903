#include "script/reply/qwen_web_reply.h"

#include <gmock/gmock.h>

#include "script/reply/qwen_web_chats.h"
#include "script/reply/reply_testing.h"

namespace callgate::script::qwen_web_reply_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string streamed(std::string_view script) {
  ScriptedModel model(script_of(script));
  ReplyOptions options;
  options.wire = "qwen_web";
  options.place = {.chat_id = "c", .parent_id = "q", .response_id = "r"};
  return play(model.reply(user_request(), options)).bytes;
}

TEST(QwenWebReply, streams_phases_and_no_end_marker) {
  EXPECT_EQ(
      streamed("reasoning \"Hm\"\ntext \"Hi\"\nusage prompt=3 completion=2 total=5 reasoning=1"),
      "data: {\"response.created\":{\"chat_id\":\"c\",\"parent_id\":\"q\",\"response_id\":\"r\"}} "
      "\n\n"
      R"(data: {"choices":[{"delta":{"role":"assistant","content":"Hm","phase":"think","status":"typing"}}],)"
      R"("response_id":"r","usage":{"input_tokens":3,"output_tokens":2,"characters":0,"total_tokens":5,)"
      R"("output_tokens_details":{"reasoning_tokens":1},"prompt_tokens_details":{"cached_tokens":0}},)"
      "\"timestamp\":1767225600}\n\n"
      R"(data: {"choices":[{"delta":{"role":"assistant","content":"","phase":"think","status":"finished"}}],)"
      "\"response_id\":\"r\",\"timestamp\":1767225600}\n\n"
      R"(data: {"choices":[{"delta":{"role":"assistant","content":"Hi","phase":"answer","status":"typing"}}],)"
      R"("response_id":"r","usage":{"input_tokens":3,"output_tokens":2,"characters":0,"total_tokens":5,)"
      R"("output_tokens_details":{"reasoning_tokens":1},"prompt_tokens_details":{"cached_tokens":0}},)"
      "\"timestamp\":1767225600}\n\n"
      R"(data: {"choices":[{"delta":{"role":"assistant","content":"","phase":"answer","status":"finished"}}],)"
      "\"response_id\":\"r\",\"timestamp\":1767225600}\n\n");
}

TEST(QwenWebReply, tells_calls_as_those_of_a_built_in_tool) {
  EXPECT_THAT(streamed("call find {\"q\":1}"),
              HasSubstr(R"("phase":"code_interpreter","status":"finished","function_call":)"
                        R"({"name":"find","arguments":{"q":1}})"));
}

TEST(QwenWebReply, fails_midway_and_says_nothing_more) {
  const std::string bytes = streamed("fault error_mid\ncut 2\ntext \"Hi there\"");
  EXPECT_THAT(bytes, HasSubstr(R"("content":"Hi")"));
  EXPECT_TRUE(bytes.ends_with("\"response_id\":\"r\"}\n\n")) << bytes;
  EXPECT_THAT(bytes, HasSubstr(R"({"error":{"code":"Internal_Error")"));
  EXPECT_THAT(bytes, Not(HasSubstr(R"("phase":"answer","status":"finished")")));
}

TEST(QwenWebReply, answers_with_errors_of_the_format) {
  ScriptedModel model(script_of("status 429"));
  ReplyOptions options;
  options.wire = "qwen_web";
  EXPECT_EQ(play(model.reply(user_request(), options)).body,
            R"({"success":false,"request_id":"req-1","data":{"code":"RateLimited",)"
            R"("details":"scripted status 429"}})");
}

TEST(QwenWebReply, reads_what_it_needs_of_a_message) {
  const auto request = kQwenWebReply.decode(
      "/api/v2/chat/completions",
      R"({"stream":true,"chat_id":"c","model":"q3","parent_id":null,"messages":[{"content":"Hi",)"
      R"("feature_config":{"thinking_enabled":true}}]})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->model, "q3");
  EXPECT_TRUE(request->stream);
  EXPECT_EQ(request->messages.at(0).content.text, "\"Hi\"");
  EXPECT_EQ(request->extra.at(0).name, "reasoning_effort");
  EXPECT_FALSE(kQwenWebReply.decode("", "{\"model\":1"));
}

std::string message_for(std::string_view chat, std::string_view parent, std::string_view text) {
  return R"({"stream":true,"model":"m","chat_id":")" + std::string(chat) + R"(","parent_id":)" +
         (parent.empty() ? "null" : "\"" + std::string(parent) + "\"") +
         R"(,"messages":[{"content":")" + std::string(text) + R"("}]})";
}

std::string frame_of(std::string_view text, std::string_view status) {
  return R"(data: {"choices":[{"delta":{"content":")" + std::string(text) +
         R"(","phase":"answer","status":")" + std::string(status) + "\"}}]}\n\n";
}

TEST(QwenWebChats, keeps_a_tree_of_what_was_said) {
  QwenWebChats chats;
  EXPECT_THAT(chats.start(), HasSubstr(R"("data":{"id":"chat-1"})"));
  const auto first = chats.post(message_for("chat-1", "", "Hi"));
  ASSERT_TRUE(first);
  const std::string bytes = frame_of("Hello", "typing") + frame_of("", "finished");
  chats.sent(first->place, bytes.substr(0, 20));
  chats.sent(first->place, bytes.substr(20));
  chats.end(first->place);
  for (const std::string_view parent : {first->place.response_id, first->place.parent_id}) {
    const auto next = chats.post(message_for("chat-1", parent, "More"));
    ASSERT_TRUE(next);
    ASSERT_EQ(next->request.messages.size(), 3u);
    EXPECT_EQ(next->request.messages[1].content.text, "\"Hello\"");
    EXPECT_EQ(next->request.messages[1].role, Role::assistant);
    chats.sent(next->place, frame_of("Part", "typing"));
    chats.end(next->place);
  }
  const std::string tree = chats.print("chat-1").value();
  EXPECT_THAT(tree, HasSubstr(R"({"id":"resp-1","parent_id":"msg-1","role":"assistant",)"
                              R"("content":"Hello","status":"finished"})"));
  EXPECT_THAT(tree, HasSubstr(R"({"id":"resp-2","parent_id":"msg-2","role":"assistant",)"
                              R"("content":"Part","status":"cut"})"));
  EXPECT_THAT(tree, HasSubstr(R"({"id":"msg-3","parent_id":"resp-1")"));
  EXPECT_THAT(tree, HasSubstr(R"("overlaps":0)"));
}

TEST(QwenWebChats, refuses_what_it_does_not_know_and_forgets_the_oldest) {
  QwenWebChats chats(1);
  chats.start();
  EXPECT_EQ(chats.post(message_for("chat-1", "resp-9", "Hi")).error().code, ErrorCode::not_found);
  EXPECT_TRUE(chats.post(message_for("chat-1", "", "Hi")));
  EXPECT_TRUE(chats.post(message_for("chat-1", "", "Hi")));
  EXPECT_THAT(chats.print("chat-1").value(), HasSubstr(R"("overlaps":1)"));
  chats.start();
  EXPECT_EQ(chats.post(message_for("chat-1", "", "Hi")).error().code, ErrorCode::not_found);
  EXPECT_EQ(chats.list(), R"({"success":true,"data":[{"id":"chat-2"}]})");
}

}  // namespace
}  // namespace callgate::script::qwen_web_reply_test
