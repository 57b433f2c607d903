#include <gtest/gtest.h>

#include "script/reply/reply_testing.h"

namespace callgate::script::anthropic_reply_test {
namespace {

Played speak(std::string_view script, const Request& request = user_request()) {
  return play(script, request, {.wire = "anthropic_messages"});
}

// The data of every frame, by the line; the name of the event is checked against the type.
std::string lines_of(std::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find("\n\n"), bytes.size());
    const std::string_view frame = bytes.substr(0, end);
    const std::size_t line = frame.find('\n');
    const std::string event(frame.substr(7, line - 7));
    const std::string data(frame.substr(line + 7));
    EXPECT_EQ(frame.substr(0, 7), "event: ");
    EXPECT_EQ(data.find("{\"type\":\"" + event + "\""), 0u) << frame;
    lines += data + "\n";
    bytes.remove_prefix(std::min(end + 2, bytes.size()));
  }
  return lines;
}

constexpr std::string_view kScript =
    "reasoning \"Hm.\"\n"
    "text \"Let \" \"me.\"\n"
    "call find {\"q\":1} id=toolu_a\n"
    "call add id=toolu_b\n"
    "usage prompt=100 completion=9 cached=60 cache_write=10 reasoning=2\n";

TEST(AnthropicReply, streams_blocks_as_the_api_does) {
  const std::string lines = lines_of(speak(kScript).bytes);
  const std::size_t start = lines.find('\n') + 1;
  EXPECT_NE(lines.find(R"("role":"assistant","model":"m","content":[],"stop_reason":null)"),
            std::string::npos);
  EXPECT_NE(lines.find(R"("usage":{"input_tokens":30,"cache_creation_input_tokens":10,)"
                       R"("cache_read_input_tokens":60,"output_tokens":0}}})"),
            std::string::npos);
  EXPECT_EQ(
      lines.substr(start),
      R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig_496e6e19cdb39040"}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let "}}
{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"me."}}
{"type":"content_block_stop","index":1}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_a","name":"find","input":{}}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}
{"type":"content_block_stop","index":2}
{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_b","name":"add","input":{}}}
{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}
{"type":"content_block_stop","index":3}
{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":30,"cache_creation_input_tokens":10,"cache_read_input_tokens":60,"output_tokens":9,"output_tokens_details":{"thinking_tokens":2}}}
{"type":"message_stop"}
)");
}

TEST(AnthropicReply, gives_a_whole_message_with_the_same_blocks) {
  const std::string body = speak(kScript, user_request("Hi", false)).body;
  EXPECT_NE(
      body.find(
          R"("content":[{"type":"thinking","thinking":"Hm.","signature":"sig_496e6e19cdb39040"},)"
          R"({"type":"text","text":"Let me."},)"
          R"({"type":"tool_use","id":"toolu_a","name":"find","input":{"q":1}},)"
          R"({"type":"tool_use","id":"toolu_b","name":"add","input":{}}],"stop_reason":"tool_use",)"
          R"("stop_sequence":null,"usage":{"input_tokens":30,)"),
      std::string::npos)
      << body;
}

TEST(AnthropicReply, refuses_and_fails_in_the_api_s_words) {
  const std::string refused = lines_of(speak("refusal \"No.\"").bytes);
  EXPECT_NE(refused.find(R"("stop_reason":"refusal","stop_sequence":null,"stop_details":)"
                         R"({"type":"refusal","category":null,"explanation":"No."})"),
            std::string::npos);
  EXPECT_EQ(
      speak("status 529").body,
      R"({"type":"error","error":{"type":"overloaded_error","message":"scripted status 529"}})");
  const std::string failed = lines_of(speak("fault error_mid\ntext \"a\" \"b\"").bytes);
  EXPECT_TRUE(failed.ends_with(
      R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"
      "\n"))
      << failed;
}

TEST(AnthropicReply, has_the_faults_of_compatible_servers) {
  struct Row {
    std::string_view script;
    std::string_view wanted;
    bool there;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"fault no_index\ntext \"a\"", "\"index\"", false},
           {"fault index_from_one\ntext \"a\"", "\"index\":1", true},
           {"fault object_arguments\ncall f {\"q\":1}", R"("name":"f","input":{"q":1}})", true},
           {"fault object_arguments\ncall f {\"q\":1}", "input_json_delta", false},
           {"fault no_id\ncall f", "\"id\":\"toolu", false},
           {"fault no_done\ntext \"a\"", "message_stop", false},
           {"fault finish=none\ntext \"a\"", "message_delta", false},
           {"fault finish=pause_turn\ntext \"a\"", R"("stop_reason":"pause_turn")", true},
           {"text \"a\"\nframe {\"type\":\"odd\"}", "event: odd\ndata: {\"type\":\"odd\"}", true},
       }) {
    const std::string bytes = speak(row.script).bytes;
    EXPECT_EQ(bytes.find(row.wanted) != std::string::npos, row.there) << row.script << "\n"
                                                                      << bytes;
  }
}

}  // namespace
}  // namespace callgate::script::anthropic_reply_test
