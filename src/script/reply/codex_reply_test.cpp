#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script/reply/codex_request.h"
#include "script/reply/reply_testing.h"

namespace callgate::script::codex_reply_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    lines.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

constexpr std::string_view kTurn =
    "reasoning \"Hm.\"\ntext \"Hi\" \" you\"\ncall f {\"a\":1} id=c1\nusage prompt=3 completion=2 "
    "total=5\n";

TEST(CodexAppServerReply, ends_behind_its_calls) {
  const Played played = play(kTurn, user_request(), {.wire = "codex_app_server"});
  EXPECT_THAT(
      lines_of(played.bytes),
      ElementsAre(
          R"({"method":"item/started","params":{"item":{"type":"reasoning","id":"rs_1","summary":[]}}})",
          R"({"method":"item/reasoning/summaryTextDelta","params":{"itemId":"rs_1","delta":"Hm."}})",
          R"({"method":"item/completed","params":{"item":{"type":"reasoning","id":"rs_1","summary":["Hm."]}}})",
          R"({"method":"item/started","params":{"item":{"type":"agentMessage","id":"msg_2","text":""}}})",
          R"({"method":"item/agentMessage/delta","params":{"itemId":"msg_2","delta":"Hi"}})",
          R"({"method":"item/agentMessage/delta","params":{"itemId":"msg_2","delta":" you"}})",
          R"({"method":"item/completed","params":{"item":{"type":"agentMessage","id":"msg_2","text":"Hi you"}}})",
          R"({"method":"rawResponseItem/completed","params":{"item":{"type":"function_call","name":"f","arguments":"{\"a\":1}","call_id":"c1"}}})",
          R"({"method":"item/tool/call","id":0,"params":{"callId":"c1","namespace":null,"tool":"f","arguments":{"a":1}}})",
          StartsWith(R"({"method":"rawResponse/completed","params":{"responseId":"resp_)")));
  const Played whole = play(kTurn, user_request("Hi", false), {.wire = "codex_app_server"});
  EXPECT_EQ(lines_of(whole.body).size(), 9u);  // the two deltas of the text are one
}

TEST(CodexAppServerReply, fails_as_codex_does) {
  const ReplyOptions wire{.wire = "codex_app_server"};
  EXPECT_THAT(lines_of(play("text \"a\"\nfinish length", user_request(), wire).bytes).back(),
              HasSubstr(R"("status":"failed","error":{"message":"Incomplete response returned)"));
  EXPECT_THAT(play("status 429", user_request(), wire).body,
              HasSubstr(R"("codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":429}})"));
  EXPECT_THAT(play("fault error_mid\ntext \"a\" \"b\"", user_request(), wire).bytes,
              HasSubstr(R"("willRetry":false)"));
}

TEST(CodexProtoReply, runs_its_calls_itself) {
  const Played played = play(kTurn, user_request(), {.wire = "codex_proto"});
  EXPECT_THAT(
      lines_of(played.bytes),
      ElementsAre(
          R"({"id":"1","msg":{"type":"task_started","model_context_window":null}})",
          R"({"id":"1","msg":{"type":"token_count","info":null}})",
          R"({"id":"1","msg":{"type":"agent_reasoning_delta","delta":"Hm."}})",
          R"({"id":"1","msg":{"type":"agent_reasoning","text":"Hm."}})",
          R"({"id":"1","msg":{"type":"agent_message_delta","delta":"Hi"}})",
          R"({"id":"1","msg":{"type":"agent_message_delta","delta":" you"}})",
          R"({"id":"1","msg":{"type":"agent_message","message":"Hi you"}})",
          R"({"id":"1","msg":{"type":"exec_command_begin","call_id":"c1","command":["f","{\"a\":1}"]}})",
          HasSubstr(R"("type":"exec_command_end","call_id":"c1")"),
          HasSubstr(
              R"("total_token_usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":2)"),
          R"({"id":"1","msg":{"type":"task_complete","last_agent_message":"Hi you"}})"));
}

TEST(CodexRequest, reads_what_codex_is_told) {
  Request request = codex_thread_request(
      R"({"model":"m","baseInstructions":"Be brief.","dynamicTools":[{"name":"f","description":"F","inputSchema":{"type":"object"}}]})");
  add_codex_input(request, R"([{"type":"text","text":"More"}])");
  add_codex_input(request, "[]");
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(request.tools.at(0).parameters.text, R"({"type":"object"})");
  EXPECT_EQ(request.messages[0].role, Role::system);
  EXPECT_EQ(request.messages[1].content.text, "\"More\"");
}

}  // namespace
}  // namespace callgate::script::codex_reply_test
