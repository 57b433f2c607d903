#include "script/reply/responses_reply.h"

#include <gtest/gtest.h>

#include "script/reply/reply_testing.h"
#include "script/reply/responses_request.h"

namespace callgate::script::responses_reply_test {
namespace {

Played speak(std::string_view script, const Request& request = user_request()) {
  return play(script, request, {.wire = "openai_responses"});
}

// The id of the response is written R.
std::string with_short_id(std::string text) {
  const std::size_t at = text.find("resp_");
  if (at == std::string::npos) return text;
  const std::string id = text.substr(at, text.find('"', at) - at);
  for (std::size_t i = at; i != std::string::npos; i = text.find(id))
    text.replace(i, id.size(), "R");
  return text;
}

// The data of every frame, by the line, without what is the same everywhere; the name of the event is checked against the
// type.
std::string lines_of(std::string_view bytes) {
  std::string lines;
  int sequence = 0;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find("\n\n"), bytes.size());
    const std::string_view frame = bytes.substr(0, end);
    const std::size_t line = frame.find('\n');
    const std::string event(frame.substr(7, line - 7));
    std::string_view data = frame.substr(line + 7);
    const std::string head =
        "{\"type\":\"" + event + "\",\"sequence_number\":" + std::to_string(sequence++) + ",";
    EXPECT_TRUE(frame.starts_with("event: ") && data.starts_with(head)) << frame;
    if (data.starts_with(head)) data.remove_prefix(head.size());
    const std::string_view word = std::string_view(event).substr(event.find('.') + 1);
    lines.append(word).append(" ").append(data).append("\n");
    bytes.remove_prefix(std::min(end + 2, bytes.size()));
  }
  return with_short_id(std::move(lines));
}

constexpr std::string_view kScript =
    "reasoning \"Hm.\"\n"
    "text \"Let \" \"me.\"\n"
    "call find {\"q\":1} id=call_a\n"
    "usage prompt=100 completion=9 cached=60 cache_write=10 reasoning=2\n";
constexpr std::string_view kOutput =
    R"([{"id":"rs_0_R","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],)"
    R"("encrypted_content":"enc_496e6e19cdb39040"},)"
    R"({"id":"msg_1_R","type":"message","status":"completed","role":"assistant","content":[)"
    R"({"type":"output_text","annotations":[],"logprobs":[],"text":"Let me."}]},)"
    R"({"id":"fc_2_R","type":"function_call","status":"completed","call_id":"call_a","name":"find",)"
    R"("arguments":"{\"q\":1}"}])";
constexpr std::string_view kUsage =
    R"("usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},)"
    R"("output_tokens":9,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":109})";

TEST(ResponsesReply, streams_items_as_the_api_does) {
  const std::string lines = lines_of(speak(kScript).bytes);
  const std::size_t begin = lines.find("output_item.added");
  EXPECT_EQ(lines.substr(0, 8), "created ");
  EXPECT_EQ(
      lines.substr(begin, lines.rfind("\ncompleted ") + 1 - begin),
      R"(output_item.added "output_index":0,"item":{"id":"rs_0_R","type":"reasoning","summary":[]}}
reasoning_summary_part.added "item_id":"rs_0_R","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}
reasoning_summary_text.delta "item_id":"rs_0_R","output_index":0,"summary_index":0,"delta":"Hm."}
reasoning_summary_text.done "item_id":"rs_0_R","output_index":0,"summary_index":0,"text":"Hm."}
reasoning_summary_part.done "item_id":"rs_0_R","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"Hm."}}
output_item.done "output_index":0,"item":{"id":"rs_0_R","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"enc_496e6e19cdb39040"}}
output_item.added "output_index":1,"item":{"id":"msg_1_R","type":"message","status":"in_progress","role":"assistant","content":[]}}
content_part.added "item_id":"msg_1_R","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}
output_text.delta "item_id":"msg_1_R","output_index":1,"content_index":0,"delta":"Let ","logprobs":[]}
output_text.delta "item_id":"msg_1_R","output_index":1,"content_index":0,"delta":"me.","logprobs":[]}
output_text.done "item_id":"msg_1_R","output_index":1,"content_index":0,"text":"Let me.","logprobs":[]}
content_part.done "item_id":"msg_1_R","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":"Let me."}}
output_item.done "output_index":1,"item":{"id":"msg_1_R","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Let me."}]}}
output_item.added "output_index":2,"item":{"id":"fc_2_R","type":"function_call","status":"in_progress","call_id":"call_a","name":"find","arguments":""}}
function_call_arguments.delta "item_id":"fc_2_R","output_index":2,"delta":"{\"q\":1}"}
function_call_arguments.done "item_id":"fc_2_R","output_index":2,"arguments":"{\"q\":1}"}
output_item.done "output_index":2,"item":{"id":"fc_2_R","type":"function_call","status":"completed","call_id":"call_a","name":"find","arguments":"{\"q\":1}"}}
)");
  const std::string last = lines.substr(lines.rfind("\ncompleted "));
  EXPECT_NE(last.find("\"output\":" + std::string(kOutput)), std::string::npos) << last;
  EXPECT_NE(last.find(kUsage), std::string::npos) << last;
  const std::string first = lines.substr(0, lines.find('\n'));
  EXPECT_EQ(first.find("usage"), std::string::npos) << first;
}

TEST(ResponsesReply, gives_a_whole_response_with_the_same_items) {
  const std::string body = with_short_id(speak(kScript, user_request("Hi", false)).body);
  EXPECT_NE(body.find("\"output\":" + std::string(kOutput)), std::string::npos) << body;
  EXPECT_NE(body.find(kUsage), std::string::npos);
}

TEST(ResponsesReply, ends_and_fails_in_the_api_s_words) {
  struct Row {
    std::string_view script;
    std::string_view wanted;
    bool there;
  };
  for (
      const Row& row : std::initializer_list<Row>{
          {"text \"a\"\nfinish length", R"("incomplete_details":{"reason":"max_output_tokens"})",
           true},
          {"text \"a\"\nfinish content_filter", "event: response.incomplete", true},
          {"refusal \"No.\"", R"("content":[{"type":"refusal","refusal":"No."}])", true},
          {"fault error_mid\ntext \"a\" \"b\"",
           R"("status":"failed","error":{"code":"server_error","message":"The server had an error."})",
           true},
          {"fault error_mid\ntext \"a\" \"b\"", "response.completed", false},
          {"fault error_event\ntext \"a\" \"b\"", R"({"type":"error","code":"server_error",)",
           true},
          {"fault error_in_choice\ntext \"a\" \"b\"", R"({"type":"error","error":{"type":)", true},
          {"fault error_string\ntext \"a\" \"b\"", R"({"error":"The server had an error."})", true},
          {"fault no_index\ntext \"a\"", "output_index", false},
          {"fault index_from_one\ntext \"a\"", "\"output_index\":0", false},
          {"fault object_arguments\ncall f {\"q\":1}", R"("name":"f","arguments":{"q":1}})", true},
          {"fault whole_calls\ncall f {\"q\":1}", "function_call_arguments", false},
          {"fault no_id\ncall f", "call_id", false},
          {"fault no_usage\ntext \"a\"", "usage", false},
          {"fault finish=none\ntext \"a\"", "event: response.completed", false},
          {"fault finish=odd\ntext \"a\"", R"("incomplete_details":{"reason":"odd"})", true},
          {"text \"a\"\nframe {\"type\":\"odd\"}", "event: odd\ndata: {\"type\":\"odd\"}", true},
      }) {
    const std::string bytes = speak(row.script).bytes;
    EXPECT_EQ(bytes.find(row.wanted) != std::string::npos, row.there) << row.script << "\n"
                                                                      << bytes;
  }
  EXPECT_EQ(
      speak("status 429").body,
      R"({"error":{"message":"scripted status 429","type":"rate_limit_exceeded","param":null,"code":null}})");
}

TEST(ResponsesRequest, is_read_as_the_conversation_that_it_is) {
  const Result<Request> request = decode_responses_request(
      R"({"model":"m","stream":true,"instructions":"Be brief.","max_output_tokens":9,"input":[
          {"role":"user","content":"hi"},
          {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"},
          {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Look."}]},
          {"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
          {"type":"custom_tool_call","call_id":"b","name":"run","input":"ls"},
          {"type":"function_call_output","call_id":"a","output":"1"},
          {"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"2"}]},
          {"type":"message","role":"developer","content":[{"type":"input_text","text":"u"},
           {"type":"input_image","image_url":"https://x"}]}],
          "tools":[{"type":"function","name":"f","parameters":{},"strict":false},{"type":"web_search"}],
          "tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":false})");
  ASSERT_TRUE(request.has_value());
  ASSERT_EQ(request->messages.size(), 6u);
  EXPECT_EQ(request->messages[0].role, Role::system);
  EXPECT_EQ(request->messages[1].content.text, "\"hi\"");
  const Message& answer = request->messages[2];
  EXPECT_EQ(answer.content.text, "\"Look.\"");
  ASSERT_EQ(answer.calls.size(), 2u);
  EXPECT_EQ(answer.calls[1].arguments, R"({"input":"ls"})");
  EXPECT_EQ(
      answer.extra.at(0).value.text,
      R"([{"type":"reasoning.encrypted","data":"gA","id":"rs_1","format":"openai-responses-v1"}])");
  EXPECT_EQ(request->messages[3].tool_call_id, "a");
  EXPECT_EQ(request->messages[4].content.text, "\"2\"");
  EXPECT_EQ(request->messages[5].role, Role::developer);
  EXPECT_EQ(request->messages[5].content.text,
            R"([{"type":"text","text":"u"},{"type":"image_url","image_url":{"url":"https://x"}}])");
  EXPECT_EQ(request->tools.size(), 1u);
  EXPECT_EQ(request->other_tools.size(), 1u);
  EXPECT_EQ(request->tool_choice.name, "f");
  EXPECT_EQ(request->parallel_tool_calls, false);
  EXPECT_EQ(request->extra.at(0).name, "max_completion_tokens");
  EXPECT_EQ(decode_responses_request(R"({"input":"hi"})")->messages.at(0).content.text, "\"hi\"");
  EXPECT_FALSE(decode_responses_request("[]").has_value());
}

}  // namespace
}  // namespace callgate::script::responses_reply_test
