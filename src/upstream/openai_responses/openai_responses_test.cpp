#include "upstream/openai_responses/openai_responses.h"

#include <gtest/gtest.h>

#include "upstream/fields_testing.h"
#include "upstream/openai_responses/responses_error.h"
#include "upstream/openai_responses/responses_input.h"
#include "upstream/request_testing.h"

namespace callgate::upstream::openai_responses_test {
namespace {

Message said(Role role, std::string content) { return {.role = role, .content = {content}}; }

UpstreamRequest encoded(const Request& request, const EncodeOptions& options = {.stream = false}) {
  return encoded_by(kOpenaiResponses, request, options);
}

ResponsesInput input_of(std::vector<Message> messages, std::vector<RawJson> other_tools = {}) {
  return encode_responses_input(
      {.messages = std::move(messages), .other_tools = std::move(other_tools)});
}

constexpr std::string_view kStart =
    R"({"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}])";
constexpr std::string_view kEnd = R"(,"store":false,"include":["reasoning.encrypted_content"]})";

TEST(ResponsesEncode, asks_for_a_stream_that_nobody_keeps) {
  Request request = asked();
  request.stream_options.push_back({"include_obfuscation", {"false"}});
  const UpstreamRequest made = encoded(request, {.model = "gpt", .key = "k"});
  EXPECT_EQ(made.path, "/responses");
  EXPECT_EQ(header_of(made, "authorization"), "Bearer k");
  EXPECT_EQ(header_of(made, "accept"), "text/event-stream");
  EXPECT_EQ(
      made.body,
      R"({"model":"gpt","input":[{"type":"message","role":"user","content":[{"type":)"
      R"("input_text","text":"hi"}]}],"store":false,"include":["reasoning.encrypted_content"],)"
      R"("stream_options":{"include_obfuscation":false},"stream":true})");
  EXPECT_EQ(encoded(asked()).body, std::string(kStart) + std::string(kEnd));
  EXPECT_EQ(header_of(encoded(asked(), {.key = "k", .auth = "x-api-key"}), "x-api-key"), "k");
}

TEST(ResponsesEncode, gives_each_field_its_place_or_says_that_it_has_none) {
  struct Row {
    std::string_view name;
    std::string_view value;
    std::string_view written;  // after the input
    std::string_view dropped;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"max_tokens", "9", R"(,"max_output_tokens":9)", ""},
           {"max_completion_tokens", "8", R"(,"max_output_tokens":8)", ""},
           {"temperature", "0.50", R"(,"temperature":0.50)", ""},
           {"top_p", "1.0", R"(,"top_p":1.0)", ""},
           {"top_logprobs", "2", R"(,"top_logprobs":2)", ""},
           {"user", R"("u")", R"(,"user":"u")", ""},
           {"prompt_cache_key", R"("c")", R"(,"prompt_cache_key":"c")", ""},
           {"reasoning_effort", R"("low")", R"(,"reasoning":{"effort":"low"})", ""},
           {"reasoning", R"({"summary":"auto"})", R"(,"reasoning":{"summary":"auto"})", ""},
           {"verbosity", R"("low")", R"(,"text":{"verbosity":"low"})", ""},
           {"text", R"({"verbosity":"high"})", R"(,"text":{"verbosity":"high"})", ""},
           {"response_format", R"({"type":"json_object"})",
            R"(,"text":{"format":{"type":"json_object"}})", ""},
           {"response_format",
            R"({"type":"json_schema","json_schema":{"schema":{"type":"object"},"strict":true}})",
            R"(,"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"},)"
            R"("strict":true}})",
            ""},
           {"frequency_penalty", "0", "", ""},
           {"frequency_penalty", "0.5", "", "frequency_penalty!"},
           {"stop", R"("END")", "", "stop!"},
           {"seed", "7", "", "seed!"},
           {"made_up", "1", "", "made_up!"},
       }) {
    const UpstreamRequest made =
        encoded(asked({{std::string(row.name), {std::string(row.value)}}}));
    EXPECT_EQ(made.body, std::string(kStart) + std::string(row.written) + std::string(kEnd));
    EXPECT_EQ(print_dropped(made.dropped), row.dropped) << row.name;
  }
}

TEST(ResponsesEncode, lets_the_api_s_own_fields_win) {
  const std::string body = encoded(asked({{"reasoning_effort", {"\"high\""}},
                                          {"reasoning", {R"({"effort":"low","summary":"auto"})"}},
                                          {"text", {R"({"format":{"type":"text"}})"}},
                                          {"response_format", {R"({"type":"json_object"})"}},
                                          {"verbosity", {"\"low\""}},
                                          {"store", {"true"}},
                                          {"include", {"[]"}}}))
                               .body;
  EXPECT_EQ(body, std::string(kStart) +
                      R"(,"reasoning":{"effort":"low","summary":"auto"},)"
                      R"("text":{"format":{"type":"text"},"verbosity":"low"},"store":true})");
  EXPECT_NE(encoded(asked({{"logprobs", {"true"}}, {"include", {"[]"}}}))
                .body.find(R"("include":["message.output_text.logprobs"])"),
            std::string::npos);
  EXPECT_NE(
      encoded(asked({{"logprobs", {"true"}}}))
          .body.find(R"("include":["reasoning.encrypted_content","message.output_text.logprobs"])"),
      std::string::npos);
}

TEST(ResponsesEncode, flattens_tools_and_the_choice_among_them) {
  Request request = asked();
  request.tools.push_back({.name = "find",
                           .description = "d",
                           .parameters = {R"({ "type":"object" })"},
                           .extra = {{"strict", {"true"}}},
                           .outer_extra = {{"cache_control", {"{}"}}}});
  request.tools.push_back({.name = "add"});
  request.other_tools.push_back({R"({"type":"web_search"})"});
  request.other_tools.push_back(
      {R"({"type":"custom","custom":{"name":"run","format":{"type":"grammar","grammar":)"
       R"({"syntax":"lark","definition":"x"}}}})"});
  const std::string tools =
      R"(,"tools":[{"type":"function","name":"find","description":"d","parameters":{ "type":"object" },)"
      R"("strict":true},{"type":"function","name":"add","parameters":{"type":"object","properties":{}},)"
      R"("strict":false},{"type":"web_search"},{"type":"custom","name":"run","format":)"
      R"({"type":"grammar","syntax":"lark","definition":"x"}}])";
  using Mode = ToolChoice::Mode;
  struct Row {
    Mode mode;
    std::string_view other;  // of another kind
    std::optional<bool> parallel;
    std::string_view written;
  };
  for (const Row& row : std::initializer_list<Row>{
           {Mode::unset, "", {}, ""},
           {Mode::automatic, "", false, R"(,"tool_choice":"auto","parallel_tool_calls":false)"},
           {Mode::none, "", true, R"(,"tool_choice":"none","parallel_tool_calls":true)"},
           {Mode::required, "", {}, R"(,"tool_choice":"required")"},
           {Mode::named, "", {}, R"(,"tool_choice":{"type":"function","name":"add"})"},
           {Mode::unset,
            R"({"type":"custom","custom":{"name":"run"}})",
            {},
            R"(,"tool_choice":{"type":"custom","name":"run"})"},
           {Mode::unset,
            R"({"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",)"
            R"("function":{"name":"add"}},{"type":"web_search"}]}})",
            {},
            R"(,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function",)"
            R"("name":"add"},{"type":"web_search"}]})"},
       }) {
    request.tool_choice = {.mode = row.mode, .name = "add"};
    request.parallel_tool_calls = row.parallel;
    request.extra.clear();
    if (!row.other.empty()) request.extra.push_back({"tool_choice", {std::string(row.other)}});
    const UpstreamRequest made = encoded(request);
    EXPECT_EQ(made.body,
              std::string(kStart) + tools + std::string(row.written) + std::string(kEnd));
    EXPECT_EQ(print_dropped(made.dropped), "");
  }
}

TEST(ResponsesInput, keeps_a_long_conversation_in_its_order) {
  Message failed = result(std::string(65, 'x'), "\"no\"");
  failed.extra.push_back({"is_error", {"true"}});
  Message refused = assistant("null");
  refused.extra.push_back({"refusal", {"\"I can't.\""}});
  Message named = user("\"one\"");
  named.name = "ann";
  const ResponsesInput made = input_of({
      said(Role::system, "\"Be brief.\""),
      named,
      assistant("\"Look.\"",
                {{.id = "functions.find:0", .name = "find", .arguments = "{ \"q\": 1 }"},
                 {.id = std::string(65, 'x'), .name = "add", .arguments = ""},
                 {.name = "f"},
                 {.name = "g"}}),
      result("functions.find:0", R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"),
      failed,
      result("", "\"r1\""),
      result("", "null"),
      said(Role::developer, R"([{"type":"text","text":"Really."}])"),
      refused,
      user("\"\""),
  });
  const std::string digest = responses_call_id(std::string(65, 'x'));
  EXPECT_EQ(digest.size(), 35u);
  EXPECT_EQ(responses_call_id(std::string(64, 'x')), std::string(64, 'x'));
  EXPECT_EQ(
      made.items,
      R"([{"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."}]},)"
      R"({"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]},)"
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"Look."}]},)"
      R"({"type":"function_call","call_id":"functions.find:0","name":"find","arguments":"{ \"q\": 1 }"},)"
      R"({"type":"function_call","call_id":")" +
          digest +
          R"(","name":"add","arguments":""},)"
          R"({"type":"function_call","call_id":"call_1","name":"f","arguments":""},)"
          R"({"type":"function_call","call_id":"call_2","name":"g","arguments":""},)"
          R"({"type":"function_call_output","call_id":"functions.find:0","output":)"
          R"([{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},)"
          R"({"type":"function_call_output","call_id":")" +
          digest +
          R"(","output":"no"},)"
          R"({"type":"function_call_output","call_id":"call_1","output":"r1"},)"
          R"({"type":"function_call_output","call_id":"call_2","output":""},)"
          R"({"type":"message","role":"developer","content":[{"type":"input_text","text":"Really."}]},)"
          R"({"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]}])");
  EXPECT_EQ(print_dropped(made.dropped),
            "messages[1].name messages[4].is_error messages[9].content!");
}

TEST(ResponsesInput, carries_images_and_files) {
  const ResponsesInput made = input_of({
      user(
          R"([{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}},)"
          R"({"type":"image_url","image_url":"https://x/y.png"},)"
          R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,BB"}},)"
          R"({"type":"input_image","file_id":"f"},{"type":"input_file","file_url":"u"},)"
          R"({"type":"input_audio","input_audio":{}}])"),
      assistant(R"([{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"u"}}])"),
      result("a", R"([{"type":"image_url","image_url":{"url":"https://x/z.png"}}])"),
  });
  EXPECT_EQ(
      made.items,
      R"([{"type":"message","role":"user","content":[)"
      R"({"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"low"},)"
      R"({"type":"input_image","image_url":"https://x/y.png"},)"
      R"({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,BB"},)"
      R"({"type":"input_image","file_id":"f"},{"type":"input_file","file_url":"u"}]},)"
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]},)"
      R"({"type":"function_call_output","call_id":"a","output":[{"type":"input_image",)"
      R"("image_url":"https://x/z.png"}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "messages[0].content[5]! messages[1].content[1]!");
}

TEST(ResponsesInput, gives_custom_tools_their_input_back) {
  Message mixed = assistant("null");
  mixed.extra.push_back(
      {"tool_calls",
       {R"([{"id":"b","type":"custom","custom":{"name":"run","input":"pwd"}},)"
        R"({"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}])"}});
  const ResponsesInput made = input_of(
      {assistant("null", {{.id = "a", .name = "run", .arguments = R"({"input":"ls \"x\""})"}}),
       result("a", "\"1\""), mixed, result("b", "\"2\""), result("c", "\"3\"")},
      {{R"({"type":"custom","custom":{"name":"run"}})"}});
  EXPECT_EQ(made.items,
            R"([{"type":"custom_tool_call","call_id":"a","name":"run","input":"ls \"x\""},)"
            R"({"type":"custom_tool_call_output","call_id":"a","output":"1"},)"
            R"({"type":"custom_tool_call","call_id":"b","name":"run","input":"pwd"},)"
            R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
            R"({"type":"custom_tool_call_output","call_id":"b","output":"2"},)"
            R"({"type":"function_call_output","call_id":"c","output":"3"}])");
}

TEST(ResponsesInput, puts_reasoning_back_where_it_stood) {
  Message answer = assistant("\"text\"", {{.id = "a", .name = "f", .arguments = "{}"},
                                          {.id = "b", .name = "g", .arguments = "{}"}});
  answer.extra.push_back(
      {"reasoning_details",
       {R"([{"type":"reasoning.summary","summary":"One.","id":"rs_1","format":"openai-responses-v1","index":0},)"
        R"({"type":"reasoning.summary","summary":"Two.","id":"rs_1","format":"openai-responses-v1","index":0},)"
        R"({"type":"reasoning.encrypted","data":"gA","id":"rs_1","format":"openai-responses-v1","index":0},)"
        R"({"type":"reasoning.text","text":"foreign","signature":"x","format":"anthropic-claude-v1","index":0},)"
        R"({"type":"reasoning.summary","summary":"Unsealed.","id":"rs_2","format":"openai-responses-v1","index":1},)"
        R"({"type":"reasoning.text","text":"Open.","id":"rs_3","format":"openai-responses-v1","index":3},)"
        R"({"type":"reasoning.encrypted","data":"gB","format":"openai-responses-v1","index":9},)"
        R"({"type":"reasoning.encrypted","data":"gC","format":"openai-responses-v1","index":9}])"}});
  EXPECT_EQ(
      input_of({answer}).items,
      R"([{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"One."},)"
      R"({"type":"summary_text","text":"Two."}],"encrypted_content":"gA"},)"
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"text"}]},)"
      R"({"type":"function_call","call_id":"a","name":"f","arguments":"{}"},)"
      R"({"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"Open."}]},)"
      R"({"type":"reasoning","summary":[],"encrypted_content":"gB"},)"
      R"({"type":"reasoning","summary":[],"encrypted_content":"gC"},)"
      R"({"type":"function_call","call_id":"b","name":"g","arguments":"{}"}])");
  Message only = assistant("null");
  only.extra = answer.extra;
  const ResponsesInput made = input_of({only});
  EXPECT_EQ(made.items, "[]");
  EXPECT_EQ(print_dropped(made.dropped), "messages[0].reasoning_details");
}

TEST(ResponsesError, keeps_what_the_upstream_said) {
  struct Row {
    int status;
    std::string_view body;
    ErrorCode code;
    std::string_view message;
    std::string_view type;
    std::string_view upstream_code;
  };
  for (
      const Row& row : std::initializer_list<Row>{
          {429,
           R"({"error":{"message":"Slow","type":"tokens","param":null,"code":"rate_limit_exceeded"}})",
           ErrorCode::rate_limited, "Slow", "tokens", "rate_limit_exceeded"},
          {0, R"({"type":"error","code":"slow_down","message":"Busy","param":null})",
           ErrorCode::unavailable, "Busy", "", "slow_down"},
          {0, R"({"error":{"code":"invalid_prompt","message":"No"},"type":"error"})",
           ErrorCode::invalid_request, "No", "", "invalid_prompt"},
          {0, R"({"code":"server_error","message":"Oh"})", ErrorCode::upstream_failed, "Oh", "",
           "server_error"},
          {401, R"({"error":{"message":"sk-1","code":"invalid_api_key"}})",
           ErrorCode::upstream_failed, "the upstream refused callgate's key", "",
           "invalid_api_key"},
          {502, "<html>", ErrorCode::upstream_failed,
           "upstream answered with status 502 and a page instead of JSON", "", ""},
      }) {
    const Error error = decode_responses_error(row.status, row.body);
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ(error.type, row.type);
    EXPECT_EQ(error.upstream_code, row.upstream_code);
    EXPECT_EQ(error.status, row.status);
  }
}

TEST(ResponsesFields, are_those_of_the_documentation_and_of_the_facts) {
  expect_fields(kOpenaiResponses, responses_fields());
}

}  // namespace
}  // namespace callgate::upstream::openai_responses_test
