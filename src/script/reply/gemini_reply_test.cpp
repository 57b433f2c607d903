#include <gtest/gtest.h>

#include "client/gemini/gemini.h"
#include "script/reply/reply_testing.h"

namespace callgate::script::gemini_reply_test {
namespace {

Played speak(std::string_view script, const Request& request = user_request()) {
  return play(script, request, {.wire = "gemini"});
}

std::string lines_of(std::string_view bytes) {
  std::string lines;
  for (const std::string& frame : frames_of(bytes)) lines += frame + "\n";
  return lines;
}

constexpr std::string_view kScript =
    "reasoning \"Hm.\"\n"
    "text \"Let \" \"me.\"\n"
    "call find {\"q\": 1} id=a\n"
    "call add id=b\n"
    "usage prompt=100 completion=9 cached=60 reasoning=2\n";
constexpr std::string_view kUsage =
    R"("usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"thoughtsTokenCount":2,)"
    R"("cachedContentTokenCount":60,"totalTokenCount":109},)";

// Without what is the same in every response.
std::string without_end(std::string text) {
  constexpr std::string_view kModel = R"("modelVersion":"m","responseId":")";
  for (std::size_t at = text.find(kModel); at != std::string::npos; at = text.find(kModel)) {
    text.erase(at, text.find("\"}", at + kModel.size()) + 2 - at);
  }
  return text;
}

constexpr std::string_view kFirst =
    R"({"candidates":[{"content":{"parts":[{"thought":true,"text":"Hm."}],"role":"model"},"index":0}],)";

TEST(GeminiReply, streams_whole_responses_as_the_api_does) {
  EXPECT_EQ(without_end(lines_of(speak(kScript).bytes)), std::string(kFirst) + R"(
{"candidates":[{"content":{"parts":[{"text":"Let "}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"text":"me."}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"find","args":{"q": 1}},"thoughtSignature":"sig_4a7b785d44c2a3e8"}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"b","name":"add","args":{}}}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,"finishReason":"STOP"}],)" +
                                                             std::string(kUsage) + "\n");
}

TEST(GeminiReply, writes_one_array_where_no_frames_are_asked_for) {
  const ReplyOptions array_form{.wire = "gemini", .form = client::kGeminiArray};
  const std::string array = without_end(play(kScript, user_request(), array_form).bytes);
  EXPECT_TRUE(array.starts_with("[" + std::string(kFirst) + "\n,{\"candidates\"")) << array;
  EXPECT_TRUE(array.ends_with(std::string(kUsage) + "\n]\n")) << array;
}

TEST(GeminiReply, gives_a_whole_answer_with_the_same_parts) {
  EXPECT_EQ(
      without_end(speak(kScript, user_request("Hi", false)).body),
      R"({"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"Let me."},)"
      R"({"functionCall":{"id":"a","name":"find","args":{"q": 1}},"thoughtSignature":"sig_4a7b785d44c2a3e8"},)"
      R"({"functionCall":{"id":"b","name":"add","args":{}}}],"role":"model"},"finishReason":"STOP","index":0}],)" +
          std::string(kUsage));
}

TEST(GeminiReply, refuses_and_fails_in_the_api_s_words) {
  EXPECT_NE(speak("refusal \"No.\"").bytes.find(R"("finishReason":"SAFETY","finishMessage":"No.")"),
            std::string::npos);
  EXPECT_EQ(
      speak("status 429").body,
      R"({"error":{"code":429,"message":"scripted status 429","status":"RESOURCE_EXHAUSTED"}})");
  EXPECT_TRUE(lines_of(speak("fault error_mid\ntext \"a\" \"b\"").bytes)
                  .ends_with(R"({"error":{"code":503,"message":"The model is overloaded.",)"
                             "\"status\":\"UNAVAILABLE\"}}\n"));
}

TEST(GeminiReply, has_the_faults_of_servers) {
  struct Row {
    std::string_view script;
    std::string_view wanted;
    bool there;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"fault no_id\ncall f {}", "\"id\"", false},
           {"fault no_usage\ntext \"a\"", "usageMetadata", false},
           {"fault finish=none\ntext \"a\"", "finishReason", false},
           {"fault finish=OTHER\ntext \"a\"", R"("finishReason":"OTHER")", true},
           {"fault bad_arguments\ncall f {\"a\":1}", R"("args":"{\"a\":1")", true},
           {"fault bad_json_frame\ntext \"a\"", "\"bro", true},
           {"reasoning \"Hm.\"\ntext \"a\"", R"({"text":"","thoughtSignature":"sig_)", true}}) {
    EXPECT_EQ(speak(row.script).bytes.find(row.wanted) != std::string::npos, row.there)
        << row.script;
  }
}

}  // namespace
}  // namespace callgate::script::gemini_reply_test
