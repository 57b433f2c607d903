#include "upstream/gemini/gemini.h"

#include <gtest/gtest.h>

#include "upstream/fields_testing.h"
#include "upstream/gemini/gemini_conversation.h"
#include "upstream/gemini/gemini_error.h"
#include "upstream/gemini/gemini_part.h"
#include "upstream/request_testing.h"

namespace callgate::upstream::gemini_test {
namespace {

UpstreamRequest encoded(const Request& request, const EncodeOptions& options = {.stream = false}) {
  return encoded_by(kGemini, request, options);
}

constexpr std::string_view kStart = R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}])";

// What follows the contents.
std::string rest(const UpstreamRequest& request) {
  EXPECT_TRUE(request.body.starts_with(kStart)) << request.body;
  return request.body.substr(kStart.size());
}

TEST(GeminiEncode, names_model_and_method_in_the_path_and_the_key_in_a_header) {
  const UpstreamRequest own = encoded(asked(), {.model = "gemini-3", .key = "k"});
  EXPECT_EQ(own.path, "/models/gemini-3:streamGenerateContent?alt=sse");
  EXPECT_EQ(header_of(own, "x-goog-api-key"), "k");
  EXPECT_EQ(header_of(own, "accept"), "text/event-stream");
  const UpstreamRequest other = encoded(
      asked(), {.model = "tunedModels/a b?\r\n", .key = "k", .auth = "bearer", .stream = false});
  EXPECT_EQ(other.path, "/tunedModels/a%20b%3F%0D%0A:generateContent");
  EXPECT_EQ(header_of(other, "authorization"), "Bearer k");
  EXPECT_EQ(header_of(other, "x-goog-api-key"), "");
  EXPECT_EQ(encoded(asked()).path, "/models/m:generateContent");
}

TEST(GeminiEncode, gives_each_field_its_place_or_says_that_it_has_none) {
  struct Row {
    std::vector<ExtraField> extra;
    std::string_view model;
    std::string_view rest;
    std::string_view dropped;
  };
  const auto rows = std::vector<Row>{
      {{{"temperature", {"0.5"}}, {"top_p", {"0.9"}}, {"top_k", {"4"}}, {"seed", {"7"}}},
       "m",
       R"(,"generationConfig":{"temperature":0.5,"topP":0.9,"topK":4,"seed":7}})",
       ""},
      {{{"max_tokens", {"5"}}, {"max_completion_tokens", {"6"}}, {"stop", {"\"x\""}}},
       "m",
       R"(,"generationConfig":{"maxOutputTokens":6,"stopSequences":["x"]}})",
       ""},
      {{{"stop", {R"(["a","b"])"}}, {"logprobs", {"true"}}, {"top_logprobs", {"3"}}},
       "m",
       R"(,"generationConfig":{"logprobs":3,"stopSequences":["a","b"],"responseLogprobs":true}})",
       ""},
      {{{"response_format",
         {R"({"type":"json_schema","json_schema":{"schema":{"type":"object"}}})"}}},
       "m",
       R"(,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}})",
       ""},
      {{{"response_format", {R"({"type":"json_object"})"}}},
       "m",
       R"(,"generationConfig":{"responseMimeType":"application/json"}})",
       ""},
      {{{"response_format", {R"({"type":"grammar"})"}}}, "m", "}", "response_format!"},
      {{{"reasoning_effort", {"\"medium\""}}},
       "gemini-3-flash",
       R"(,"generationConfig":{"thinkingConfig":{"thinkingLevel":"medium","includeThoughts":true}}})",
       ""},
      {{{"reasoning_effort", {"\"none\""}}},
       "gemini-3-pro",
       R"(,"generationConfig":{"thinkingConfig":{"thinkingLevel":"low","includeThoughts":false}}})",
       ""},
      {{{"reasoning_effort", {"\"xhigh\""}}},
       "gemini-2.5-flash",
       R"(,"generationConfig":{"thinkingConfig":{"thinkingBudget":24576,"includeThoughts":true}}})",
       ""},
      {{{"reasoning_effort", {"\"none\""}}},
       "gemini-2.5-flash",
       R"(,"generationConfig":{"thinkingConfig":{"thinkingBudget":0,"includeThoughts":false}}})",
       ""},
      {{{"reasoning_effort", {"\"low\""}}}, "gemini-2.0-flash", "}", "reasoning_effort!"},
      {{{"reasoning_effort", {"\"odd\""}}}, "gemini-3-flash", "}", "reasoning_effort!"},
      {{{"temperature", {"1"}},
        {"thinkingConfig", {R"({"thinkingBudget":5})"}},
        {"reasoning_effort", {"\"low\""}},
        {"generationConfig", {R"({"temperature":2,"mediaResolution":"X"})"}}},
       "m",
       R"(,"generationConfig":{"thinkingConfig":{"thinkingBudget":5},"temperature":2,"mediaResolution":"X"}})",
       ""},
      {{{"safetySettings", {"[1]"}}, {"cachedContent", {"\"c\""}}, {"labels", {"{}"}}},
       "m",
       R"(,"safetySettings":[1],"cachedContent":"c","labels":{}})",
       ""},
      {{{"logit_bias", {R"({"1":2})"}},
        {"user", {"\"u\""}},
        {"odd", {"1"}},
        {"metadata", {"null"}}},
       "m",
       "}",
       "logit_bias! user odd!"},
  };
  for (const Row& row : rows) {
    const UpstreamRequest made = encoded(asked(row.extra), {.model = row.model, .stream = false});
    EXPECT_EQ(rest(made), row.rest);
    EXPECT_EQ(print_dropped(made.dropped), row.dropped);
  }
  Request several = asked();
  several.choices = 3;
  EXPECT_EQ(rest(encoded(several)), R"(,"generationConfig":{"candidateCount":3}})");
}

TEST(GeminiEncode, writes_tools_and_the_choice_among_them) {
  using Mode = ToolChoice::Mode;
  Request request = asked();
  request.tools.push_back({.name = "find",
                           .description = "Finds",
                           .parameters = {R"({"type":"object","additionalProperties":false})"}});
  request.tools.push_back({.name = "add"});
  constexpr std::string_view kDeclared =
      R"({"functionDeclarations":[{"name":"find","description":"Finds","parametersJsonSchema":)"
      R"({"type":"object","additionalProperties":false}},{"name":"add"}]}])";
  const std::string tools = ",\"tools\":[" + std::string(kDeclared);
  EXPECT_EQ(rest(encoded(request)), tools + "}");
  struct Row {
    Mode mode;
    std::string_view config;
  };
  for (const Row& row : std::initializer_list<Row>{
           {Mode::automatic, R"("mode":"AUTO")"},
           {Mode::none, R"("mode":"NONE")"},
           {Mode::required, R"("mode":"ANY")"},
           {Mode::named, R"("mode":"ANY","allowedFunctionNames":["add"])"}}) {
    request.tool_choice = {row.mode, "add"};
    EXPECT_EQ(rest(encoded(request)), tools + ",\"toolConfig\":{\"functionCallingConfig\":{" +
                                          std::string(row.config) + "}}}");
  }
  request.extra.push_back({"toolConfig", {R"({"own":1})"}});
  request.other_tools = {{R"({"type":"googleSearch"})"},
                         {R"({"type":"fileSearch","fileSearch":{"x":1}})"},
                         {R"({"type":"web_search"})"}};
  const UpstreamRequest made = encoded(request);
  EXPECT_EQ(rest(made), ",\"tools\":[{\"googleSearch\":{}},{\"fileSearch\":{\"x\":1}}," +
                            std::string(kDeclared) + ",\"toolConfig\":{\"own\":1}}");
  EXPECT_EQ(print_dropped(made.dropped), "other_tools!");
}

TEST(GeminiConversation, orders_a_long_conversation_as_the_api_wants_it) {
  Message failed = result("", "\"no\"");
  failed.extra.push_back({"is_error", {"true"}});
  Message said = assistant("\"Hm.\"", {{"a1", "find", R"({"q": 12345678901234567890})", {}},
                                       {"call_abcdefghijklmnopqrstuvwx", "find", "", {}},
                                       {"", "add", "[1]", {}}});
  const GeminiConversation made = encode_gemini_conversation(
      {{.role = Role::system, .content = {"\"S\""}},
       user("\"one\""),
       user(R"([{"type":"text","text":"two"},{"type":"text","text":""}])"),
       {.role = Role::developer, .content = {"\"D\""}},
       said,
       user("\"between\""),
       failed,
       result("call_abcdefghijklmnopqrstuvwx", R"("{\"ok\": [1]}")"),
       result("a1", "\"18 °C\""),
       assistant("null"),
       assistant("\"Bye\""),
       result("lost", "null")},
      "gemini-2.5-pro");
  EXPECT_EQ(made.system, R"({"parts":[{"text":"S"},{"text":"D"}]})");
  EXPECT_EQ(
      made.contents,
      R"([{"role":"user","parts":[{"text":"one"},{"text":"two"}]},)"
      R"({"role":"model","parts":[{"text":"Hm."},)"
      R"({"functionCall":{"id":"a1","name":"find","args":{"q": 12345678901234567890}}},)"
      R"({"functionCall":{"name":"find","args":{}}},)"
      R"({"functionCall":{"name":"add","args":{"raw":"[1]"}}}]},)"
      R"({"role":"user","parts":[)"
      R"({"functionResponse":{"id":"a1","name":"find","response":{"output":"18 °C"}}},)"
      R"({"functionResponse":{"name":"find","response":{"ok": [1]}}},)"
      R"({"functionResponse":{"name":"add","response":{"error":"no"}}},{"text":"between"}]},)"
      R"({"role":"model","parts":[{"text":"Bye"}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"id":"lost","name":"unknown","response":{"output":""}}}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "");
  const GeminiConversation only =
      encode_gemini_conversation({{.role = Role::system, .content = {"\"S\""}}}, "m");
  EXPECT_EQ(only.contents, R"([{"role":"user","parts":[{"text":"S"}]}])");
  EXPECT_EQ(only.system, "");
}

TEST(GeminiConversation, puts_signatures_back_on_their_parts) {
  constexpr std::string_view kHead =
      R"({"type":"reasoning.encrypted","format":"google-gemini-v1",)";
  const auto detail = [&](std::string_view more) {
    return std::string(kHead) + std::string(more) + "}";
  };
  Message said = assistant("\"Hm.\"", {{"a1", "find", "{}", {}}, {"a2", "add", "{}", {}}});
  said.extra.push_back({"reasoning_content", {"\"T\""}});
  said.extra.push_back(
      {"reasoning_details",
       {"[" + detail(R"("data":"S0","id":"gone","index":0)") + "," +
        detail(R"("data":"S1","id":"a2","index":0)") + "," + detail(R"("data":"ST","id":"text")") +
        "," + detail(R"("data":"SE","id":"end")") + "," + detail(R"("data":"SH","id":"thought")") +
        R"(,{"type":"reasoning.encrypted","format":"other","data":"no","id":"a1"}])"}});
  EXPECT_EQ(encode_gemini_conversation({said}, "gemini-3-flash").contents,
            R"([{"role":"model","parts":[{"text":"T","thought":true,"thoughtSignature":"SH"},)"
            R"({"text":"Hm.","thoughtSignature":"ST"},)"
            R"({"functionCall":{"id":"a1","name":"find","args":{}},"thoughtSignature":"S0"},)"
            R"({"functionCall":{"id":"a2","name":"add","args":{}},"thoughtSignature":"S1"},)"
            R"({"text":"","thoughtSignature":"SE"}]}])");
  said.extra.clear();
  const auto calls = [&](std::string_view model) {
    return encode_gemini_conversation({said}, model).contents;
  };
  const std::string unsigned_call = R"({"functionCall":{"id":"a1","name":"find","args":{}}})";
  for (const std::string_view model : {"gemini-3-flash", "gemini-flash-latest", "m"}) {
    EXPECT_NE(
        calls(model).find(R"("args":{}},"thoughtSignature":"skip_thought_signature_validator"},)"
                          R"({"functionCall":{"id":"a2","name":"add","args":{}}}])"),
        std::string::npos)
        << model;
  }
  EXPECT_NE(calls("models/gemini-2.5-flash").find(unsigned_call), std::string::npos);
}

TEST(GeminiConversation, carries_media_where_the_api_has_a_place_for_it) {
  const GeminiConversation made = encode_gemini_conversation(
      {user(R"([{"type":"image_url","image_url":{"url":"data:image/jpg;base64,AA=="}},)"
            R"({"type":"image_url","image_url":{"url":"https://h/a.png?x=1"}},)"
            R"({"type":"image_url","image_url":{"url":"gs://b/o"}},)"
            R"({"type":"image_url","image_url":{"url":"ftp://h/a.png"}},)"
            R"({"type":"file","file":{"file_data":"data:application/pdf;base64,BB=="}},)"
            R"({"type":"file","file":{"file_id":"f"}},)"
            R"({"type":"input_audio","input_audio":{"data":"CC==","format":"wav"}},)"
            R"({"type":"video_url","video_url":{"url":"https://www.youtube.com/watch?v=1"}},)"
            R"({"type":"own","fileData":{"fileUri":"u"}}])")},
      "m");
  EXPECT_EQ(made.contents,
            R"([{"role":"user","parts":[{"inlineData":{"mimeType":"image/jpeg","data":"AA=="}},)"
            R"({"fileData":{"fileUri":"https://h/a.png?x=1","mimeType":"image/png"}},)"
            R"({"fileData":{"fileUri":"gs://b/o"}},)"
            R"({"inlineData":{"mimeType":"application/pdf","data":"BB=="}},)"
            R"({"inlineData":{"mimeType":"audio/wav","data":"CC=="}},)"
            R"({"fileData":{"fileUri":"https://www.youtube.com/watch?v=1"}},)"
            R"({"fileData":{"fileUri":"u"}}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "messages[0].content[3]! messages[0].content[5]!");

  const Message seen = result("a", R"([{"type":"text","text":"t"},{"type":"image_url",)"
                                   R"("image_url":{"url":"data:image/png;base64,AA=="}}])");
  constexpr std::string_view kImage = R"({"inlineData":{"mimeType":"image/png","data":"AA=="}})";
  EXPECT_EQ(encode_gemini_conversation({seen}, "gemini-3-flash").contents,
            R"([{"role":"user","parts":[{"functionResponse":{"id":"a","name":"unknown",)"
            R"("response":{"output":"t"},"parts":[)" +
                std::string(kImage) + "]}}]}]");
  EXPECT_EQ(encode_gemini_conversation({seen}, "gemini-2.5-flash").contents,
            R"([{"role":"user","parts":[{"functionResponse":{"id":"a","name":"unknown",)"
            R"("response":{"output":"t"}}},)" +
                std::string(kImage) + "]}]");
}

TEST(GeminiError, keeps_what_the_upstream_said) {
  struct Row {
    int status;
    std::string_view body;
    ErrorCode code;
    std::string_view message;
    std::string_view type;
    std::string_view retry_after;
    int status_told;
  };
  constexpr std::string_view kQuota =
      R"({"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[)"
      R"({"@type":"x.QuotaFailure","violations":[]},{"@type":"x.RetryInfo","retryDelay":"28.2s"}]}})";
  const std::string in_array = "[" + std::string(kQuota) + "]";
  for (const Row& row : std::initializer_list<Row>{
           {429, kQuota, ErrorCode::rate_limited, "Quota", "RESOURCE_EXHAUSTED", "29", 429},
           {429, in_array, ErrorCode::rate_limited, "Quota", "RESOURCE_EXHAUSTED", "29", 429},
           {0, kQuota, ErrorCode::rate_limited, "Quota", "RESOURCE_EXHAUSTED", "29", 429},
           {400,
            R"({"error":{"code":400,"message":"API key not valid: k","status":"INVALID_ARGUMENT",)"
            R"("details":[{"@type":"x.ErrorInfo","reason":"API_KEY_INVALID"}]}})",
            ErrorCode::upstream_failed, "the upstream refused callgate's key", "INVALID_ARGUMENT",
            "", 401},
           {400, R"({"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}})",
            ErrorCode::invalid_request, "Bad", "INVALID_ARGUMENT", "", 400},
           {503, R"({"error":{"code":503,"message":"Over","details":[{"retryDelay":"soon"}]}})",
            ErrorCode::unavailable, "Over", "", "", 503},
           {502, "<html>", ErrorCode::upstream_failed,
            "upstream answered with status 502 and a page instead of JSON", "", "", 502},
       }) {
    const Error error = decode_gemini_error(row.status, row.body);
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ(error.type, row.type);
    EXPECT_EQ(error.retry_after, row.retry_after);
    EXPECT_EQ(error.status, row.status_told);
  }
}

TEST(GeminiFields, are_those_of_the_documentation) { expect_fields(kGemini, gemini_fields()); }

}  // namespace
}  // namespace callgate::upstream::gemini_test
