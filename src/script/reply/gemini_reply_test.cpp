#include "script/reply/gemini_reply.h"

#include <gtest/gtest.h>

#include "script/reply/gemini_request.h"
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
constexpr std::string_view kEnd =
    R"("usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"totalTokenCount":109,)"
    R"("cachedContentTokenCount":60,"thoughtsTokenCount":2},"modelVersion":"m","responseId":")";

std::string without_end(std::string text) {
  for (std::size_t at = text.find(kEnd); at != std::string::npos; at = text.find(kEnd)) {
    text.erase(at, text.find("\"}", at + kEnd.size()) + 2 - at);
  }
  return text;
}

constexpr std::string_view kFirst =
    R"({"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true}],"role":"model"},"index":0}],)";

TEST(GeminiReply, streams_whole_responses_as_the_api_does) {
  EXPECT_EQ(without_end(lines_of(speak(kScript).bytes)), std::string(kFirst) + R"(
{"candidates":[{"content":{"parts":[{"text":"Let "}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"text":"me."}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"find","args":{"q": 1}},"thoughtSignature":"sig_4a7b785d44c2a3e8"}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"b","name":"add","args":{}}}],"role":"model"},"index":0}],
{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],
)");
}

TEST(GeminiReply, writes_one_array_where_no_frames_are_asked_for) {
  Request request = user_request();
  request.stream_options.push_back({std::string(kArrayOption), {"true"}});
  const std::string array = without_end(speak(kScript, request).bytes);
  EXPECT_TRUE(array.starts_with("[" + std::string(kFirst) + ",\r\n{\"candidates\"")) << array;
  EXPECT_TRUE(array.ends_with("\"finishReason\":\"STOP\",\"index\":0}],]\n")) << array;
}

TEST(GeminiReply, gives_a_whole_answer_with_the_same_parts) {
  EXPECT_EQ(
      without_end(speak(kScript, user_request("Hi", false)).body),
      R"({"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"Let me."},)"
      R"({"functionCall":{"id":"a","name":"find","args":{"q": 1}},"thoughtSignature":"sig_4a7b785d44c2a3e8"},)"
      R"({"functionCall":{"id":"b","name":"add","args":{}}}],"role":"model"},"finishReason":"STOP","index":0}],)");
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

TEST(GeminiRequest, is_read_as_a_canonical_one) {
  const auto request = decode_gemini_request(
      "/v1beta/models/g-3:streamGenerateContent?key=k&alt=sse",
      R"({"systemInstruction":{"parts":[{"text":"S"}]},"contents":[{"role":"user","parts":[{"text":"q"},)"
      R"({"inlineData":{"mimeType":"image/png","data":"AA"}}]},{"role":"model","parts":[)"
      R"({"text":"t","thought":true},{"text":"a"},{"functionCall":{"id":"i","name":"f","args":{"b": 1}},"thoughtSignature":"s"}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"id":"i","name":"f","response":{"error":"r"}}},)"
      R"({"functionResponse":{"name":"g","response":{"x":1}}},{"text":"u"}]}],)"
      R"("tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}}]},{"googleSearch":{}}],)"
      R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},)"
      R"("generationConfig":{"candidateCount":2,"stopSequences":["x"]},"labels":{}})");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->model, "g-3");
  EXPECT_TRUE(request->stream);
  EXPECT_TRUE(request->stream_options.empty());
  EXPECT_EQ(request->choices, 2u);
  ASSERT_EQ(request->messages.size(), 6u);
  EXPECT_EQ(request->messages[0].role, Role::system);
  EXPECT_EQ(request->messages[1].content.text,
            R"([{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":)"
            R"("data:image/png;base64,AA"}}])");
  const Message& answer = request->messages[2];
  EXPECT_EQ(answer.content.text, "\"a\"");
  ASSERT_EQ(answer.calls.size(), 1u);
  EXPECT_EQ(answer.calls[0].arguments, "{\"b\": 1}");
  EXPECT_EQ(answer.extra[0].value.text,
            R"([{"type":"reasoning.encrypted","data":"s","format":"google-gemini-v1"}])");
  EXPECT_EQ(request->messages[3].tool_call_id, "i");
  EXPECT_EQ(request->messages[3].content.text, "\"r\"");
  EXPECT_EQ(request->messages[3].extra[0].name, "is_error");
  EXPECT_EQ(request->messages[4].content.text, R"("{\"x\":1}")");
  EXPECT_EQ(request->messages[5].content.text, "\"u\"");
  ASSERT_EQ(request->tools.size(), 1u);
  EXPECT_EQ(request->tools[0].parameters.text, R"({"type":"object"})");
  EXPECT_EQ(request->other_tools.size(), 1u);
  EXPECT_EQ(request->tool_choice.name, "f");
  EXPECT_EQ(request->tool_choice.mode, ToolChoice::Mode::named);
  EXPECT_EQ(request->extra[0].name, "stop");

  const auto array = decode_gemini_request("/models/m:streamGenerateContent", "{}");
  ASSERT_TRUE(array.has_value());
  EXPECT_EQ(array->stream_options.size(), 1u);
  EXPECT_FALSE(decode_gemini_request("/models/m:generateContent", "[]").has_value());
}

}  // namespace
}  // namespace callgate::script::gemini_reply_test
