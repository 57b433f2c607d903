#include <gtest/gtest.h>

#include "script/reply/reply_testing.h"

namespace callgate::script::responses_reply_test {
namespace {

Played speak(std::string_view script, const Request& request = user_request()) {
  return play(script, request, {.wire = "openai_responses"});
}

// What is random in ids is written R.
std::string with_short_id(std::string text) {
  const std::size_t at = text.find("resp_");
  if (at == std::string::npos) return text;
  const std::string id = text.substr(at + 5, text.find('"', at) - at - 5);
  for (std::size_t i = text.find(id); i != std::string::npos; i = text.find(id))
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
    R"([{"id":"rs_R_0","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],)"
    R"("encrypted_content":"enc_496e6e19cdb39040"},)"
    R"({"id":"msg_R_1","type":"message","status":"completed","role":"assistant","content":[)"
    R"({"type":"output_text","text":"Let me.","annotations":[],"logprobs":[]}]},)"
    R"({"id":"fc_R_2","type":"function_call","status":"completed","call_id":"call_a","name":"find",)"
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
      R"(output_item.added "output_index":0,"item":{"id":"rs_R_0","type":"reasoning","summary":[]}}
reasoning_summary_part.added "item_id":"rs_R_0","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}
reasoning_summary_text.delta "item_id":"rs_R_0","output_index":0,"summary_index":0,"delta":"Hm."}
reasoning_summary_text.done "item_id":"rs_R_0","output_index":0,"summary_index":0,"text":"Hm."}
reasoning_summary_part.done "item_id":"rs_R_0","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"Hm."}}
output_item.done "output_index":0,"item":{"id":"rs_R_0","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"enc_496e6e19cdb39040"}}
output_item.added "output_index":1,"item":{"id":"msg_R_1","type":"message","status":"in_progress","role":"assistant","content":[]}}
content_part.added "item_id":"msg_R_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}
output_text.delta "item_id":"msg_R_1","output_index":1,"content_index":0,"delta":"Let ","logprobs":[]}
output_text.delta "item_id":"msg_R_1","output_index":1,"content_index":0,"delta":"me.","logprobs":[]}
output_text.done "item_id":"msg_R_1","output_index":1,"content_index":0,"text":"Let me.","logprobs":[]}
content_part.done "item_id":"msg_R_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"Let me.","annotations":[],"logprobs":[]}}
output_item.done "output_index":1,"item":{"id":"msg_R_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Let me.","annotations":[],"logprobs":[]}]}}
output_item.added "output_index":2,"item":{"id":"fc_R_2","type":"function_call","status":"in_progress","call_id":"call_a","name":"find","arguments":""}}
function_call_arguments.delta "item_id":"fc_R_2","output_index":2,"delta":"{\"q\":1}"}
function_call_arguments.done "item_id":"fc_R_2","output_index":2,"arguments":"{\"q\":1}"}
output_item.done "output_index":2,"item":{"id":"fc_R_2","type":"function_call","status":"completed","call_id":"call_a","name":"find","arguments":"{\"q\":1}"}}
)");
  const std::string last = lines.substr(lines.rfind("\ncompleted "));
  EXPECT_NE(last.find("\"output\":" + std::string(kOutput)), std::string::npos) << last;
  EXPECT_NE(last.find(kUsage), std::string::npos) << last;
  const std::string first = lines.substr(0, lines.find('\n'));
  EXPECT_NE(first.find("\"usage\":null"), std::string::npos) << first;
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
  for (const Row& row : std::initializer_list<Row>{
           {"text \"a\"\nfinish length", R"("incomplete_details":{"reason":"max_output_tokens"})",
            true},
           {"text \"a\"\nfinish content_filter", "event: response.incomplete", true},
           {"refusal \"No.\"", R"("content":[{"type":"refusal","refusal":"No."}])", true},
           {"fault error_mid\ntext \"a\" \"b\"",
            R"("error":{"code":"server_error","message":"The server had an error."})", true},
           {"fault error_mid\ntext \"a\" \"b\"", "response.completed", false},
           {"fault error_event\ntext \"a\" \"b\"",
            R"("code":"server_error","message":"The server had an error.")", true},
           {"fault error_in_choice\ntext \"a\" \"b\"",
            R"("error":{"message":"The server had an error.")", true},
           {"fault error_string\ntext \"a\" \"b\"", R"({"error":"The server had an error."})",
            true},
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
      R"({"error":{"message":"scripted status 429","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}})");
}

}  // namespace
}  // namespace callgate::script::responses_reply_test
