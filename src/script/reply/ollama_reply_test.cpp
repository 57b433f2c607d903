#include <gtest/gtest.h>

#include "script/reply/reply_testing.h"

namespace callgate::script::ollama_reply_test {
namespace {

Played speak(std::string_view script, const Request& request = user_request()) {
  return play(script, request, {.wire = "ollama"});
}

// What differs from line to line.
std::string lines_of(std::string_view bytes) {
  constexpr std::string_view kHead =
      R"({"model":"m","created_at":"2026-01-01T00:00:00Z","message":)";
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    if (line.starts_with(kHead)) line.remove_prefix(kHead.size());
    lines.append(line).push_back('\n');
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return lines;
}

constexpr std::string_view kScript =
    "reasoning \"Hm.\"\n"
    "text \"Let \" \"me.\"\n"
    "call find {\"q\": 12345678901234567890} id=call_a\n"
    "call add id=call_b\n"
    "usage prompt=100 completion=9\n";
constexpr std::string_view kCounts =
    R"("total_duration":109000000,"prompt_eval_duration":100000000,"eval_duration":9000000,)"
    R"("prompt_eval_count":100,"eval_count":9})";

TEST(OllamaReply, streams_lines_as_the_server_does) {
  EXPECT_EQ(lines_of(speak(kScript).bytes),
            R"({"role":"assistant","content":"","thinking":"Hm."},"done":false}
{"role":"assistant","content":"Let "},"done":false}
{"role":"assistant","content":"me."},"done":false}
{"role":"assistant","content":"","tool_calls":[{"id":"call_a","function":{"index":0,"name":"find","arguments":{"q": 12345678901234567890}}}]},"done":false}
{"role":"assistant","content":"","tool_calls":[{"id":"call_b","function":{"index":1,"name":"add","arguments":{}}}]},"done":false}
{"role":"assistant","content":""},"done":true,"done_reason":"stop",)" +
                std::string(kCounts) + "\n");
}

TEST(OllamaReply, answers_whole_in_one_line) {
  EXPECT_EQ(
      lines_of(speak(kScript, user_request("Hi", false)).body),
      R"({"role":"assistant","content":"Let me.","thinking":"Hm.","tool_calls":[{"id":"call_a","function":)"
      R"({"index":0,"name":"find","arguments":{"q": 12345678901234567890}}},{"id":"call_b","function":)"
      R"({"index":1,"name":"add","arguments":{}}}]},"done":true,"done_reason":"stop",)" +
          std::string(kCounts) + "\n");
}

TEST(OllamaReply, has_the_faults_that_the_format_can_have) {
  struct Row {
    std::string_view script;
    std::string_view wanted;
    std::string_view missing;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"fault no_id no_index\ncall find", R"([{"function":{"name":"find","arguments":{}}}])",
            "\"id\""},
           {"fault calls_in_one_frame\ncall find\ncall add", R"({}}},{"id":)",
            "}]},\"done\":false}\n{\"model\":\"m\",\"created_at\":\"2026-01-01T00:00:00Z\","
            "\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\""},
           {"fault bad_arguments\ncall find {\"q\":1}", R"("arguments":"{\"q\":1")", "{\"q\""},
           {"fault error_mid\ntext \"a\" \"b\"", "\n{\"error\":\"an error", "\"done\":true"},
           {"fault error_mid_done\ntext \"a\"", "\"done\":true", "\"b\""},
           {"fault bad_json_frame\ntext \"a\" \"b\"", "\n{\"message\":{\"content\":\"bro\n",
            "error"},
           {"fault no_done\ntext \"a\"", "\"a\"", "\"done\":true"},
           {"fault no_usage\ntext \"a\"", "\"done\":true", "eval_count"},
           {"fault text_after_done\ntext \"a\"", "\"after the end\"", "error"},
           {"fault crlf\ntext \"a\"", "\"done\":false}\r\n", "error"},
           {"finish length\ntext \"a\"", "\"done_reason\":\"length\"", "stop"},
       }) {
    const std::string bytes = speak(row.script).bytes;
    EXPECT_NE(bytes.find(row.wanted), std::string::npos) << row.script << "\n" << bytes;
    EXPECT_EQ(bytes.find(row.missing), std::string::npos) << row.script << "\n" << bytes;
  }
  EXPECT_EQ(speak("status 503").body, R"({"error":"scripted status 503"})");
}

}  // namespace
}  // namespace callgate::script::ollama_reply_test
