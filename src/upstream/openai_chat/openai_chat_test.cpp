#include "upstream/openai_chat/openai_chat.h"

#include <gtest/gtest.h>

#include "upstream/fields_testing.h"
#include "upstream/finish_word.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream::openai_chat_test {
namespace {

TEST(OpenaiEncode, always_asks_a_stream_for_usage) {
  Request request{.model = "asked"};
  request.messages.push_back({.role = Role::user, .content = {"\"hi\""}});
  const auto encoded = kOpenaiChat.encode(request, {.model = "vendor/m", .key = "k"});
  ASSERT_TRUE(encoded.has_value());
  EXPECT_EQ(encoded->path, "/chat/completions");
  EXPECT_EQ(header_of(*encoded, "authorization"), "Bearer k");
  EXPECT_EQ(header_of(*encoded, "content-type"), "application/json");
  EXPECT_EQ(header_of(*encoded, "accept"), "text/event-stream");
  EXPECT_EQ(encoded->body, R"({"model":"vendor/m","messages":[{"role":"user","content":"hi"}],)"
                           R"("stream":true,"stream_options":{"include_usage":true}})");
}

TEST(OpenaiEncode, sends_no_key_where_there_is_none) {
  const auto encoded = kOpenaiChat.encode({.model = "m"}, {.stream = false});
  EXPECT_EQ(header_of(*encoded, "authorization"), "");
  EXPECT_EQ(header_of(*encoded, "accept"), "application/json");
  EXPECT_EQ(encoded->body, R"({"model":"m","messages":[]})");
}

TEST(OpenaiEncode, passes_json_on_as_the_caller_wrote_it) {
  Request request{.model = "m", .choices = 2};
  Message assistant{.role = Role::assistant, .content = {"null"}};
  assistant.calls.push_back({.id = "c1", .name = "find", .arguments = "{\"q\": 1}"});
  assistant.extra.push_back({"reasoning_content", {"\"hm\""}});
  request.messages.push_back(assistant);
  request.messages.push_back({.role = Role::tool, .content = {"[ ]"}, .tool_call_id = "c1"});
  request.tools.push_back({.name = "find",
                           .description = "d",
                           .parameters = {"{ \"type\":\"object\" }"},
                           .extra = {{"strict", {"true"}}},
                           .outer_extra = {{"cache_control", {"{}"}}}});
  request.other_tools.push_back({"{\"type\":\"web_search\"}"});
  request.tool_choice = {.mode = ToolChoice::Mode::named, .name = "find"};
  request.parallel_tool_calls = true;
  request.extra.push_back({"temperature", {"0.10"}});
  request.extra.push_back({"we\"ird", {"[1, 2]"}});
  const auto encoded = kOpenaiChat.encode(request, {.stream = false});
  EXPECT_EQ(
      encoded->body,
      R"({"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1",)"
      R"("type":"function","function":{"name":"find","arguments":"{\"q\": 1}"}}],"reasoning_content":"hm"},)"
      R"({"role":"tool","content":[ ],"tool_call_id":"c1"}],"tools":[{"type":"function","function":{)"
      R"("name":"find","description":"d","parameters":{ "type":"object" },"strict":true},"cache_control":{}},)"
      R"({"type":"web_search"}],"tool_choice":{"type":"function","function":{"name":"find"}},)"
      R"("parallel_tool_calls":true,"n":2,"temperature":0.10,"we\"ird":[1, 2]})");
}

TEST(OpenaiEncode, keeps_other_stream_options) {
  Request request{.model = "m"};
  request.stream_options.push_back({"include_obfuscation", {"false"}});
  const auto encoded = kOpenaiChat.encode(request, {});
  EXPECT_NE(
      encoded->body.find(R"("stream_options":{"include_usage":true,"include_obfuscation":false})"),
      std::string::npos);
}

TEST(OpenaiError, reads_every_shape) {
  struct Row {
    int status;
    std::string_view body;
    ErrorCode code;
    std::string_view message;
    std::string_view type;
    std::string_view upstream_code;
  };
  for (const Row& row : {
           Row{429, R"({"error":{"message":"slow","type":"t","param":null,"code":"c"}})",
               ErrorCode::rate_limited, "slow", "t", "c"},
           Row{400, R"({"error":"bad"})", ErrorCode::invalid_request, "bad", "", ""},
           Row{404, R"({"detail":"Not Found"})", ErrorCode::not_found, "Not Found", "", ""},
           Row{422, R"({"detail":[{"loc":1}]})", ErrorCode::invalid_request, R"([{"loc":1}])", "",
               ""},
           Row{0, R"({"object":"error","message":"long","type":"BadRequestError","code":400})",
               ErrorCode::invalid_request, "long", "BadRequestError", "400"},
           Row{0, R"({"error":{"message":"busy","type":"overloaded_error"}})",
               ErrorCode::unavailable, "busy", "overloaded_error", ""},
           Row{0, R"("out of memory")", ErrorCode::upstream_failed, "out of memory", "", ""},
           Row{500, "<html>", ErrorCode::upstream_failed,
               "upstream answered with status 500 and a page instead of JSON", "", ""},
           Row{503, "", ErrorCode::unavailable,
               "upstream answered with status 503 and no explanation", "", ""},
           Row{500, "oops \xff", ErrorCode::upstream_failed,
               "upstream answered with status 500: oops \xEF\xBF\xBD", "", ""},
           Row{401, R"({"error":{"message":"Incorrect key sk-12"}})", ErrorCode::upstream_failed,
               "the upstream refused callgate's key", "", ""},
       }) {
    const Error error = decode_openai_error(row.status, row.body);
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ(error.type, row.type);
    EXPECT_EQ(error.upstream_code, row.upstream_code);
  }
}

TEST(OpenaiError, takes_a_code_for_a_status_only_where_it_is_one_of_an_error) {
  for (const auto& [code, status] : std::initializer_list<std::pair<std::string, int>>{
           {"399", 0}, {"400", 400}, {"599", 599}, {"600", 0}, {"400x", 0}, {"", 0}}) {
    const std::string body = R"({"error":{"message":"m","code":")" + code + R"("}})";
    EXPECT_EQ(decode_openai_error(0, body).status, status) << code;
  }
}

TEST(FinishWord, knows_vendor_aliases_in_any_case) {
  EXPECT_EQ(finish_reason_of("stop"), FinishReason::stop);
  EXPECT_EQ(finish_reason_of("STOP"), FinishReason::stop);
  EXPECT_EQ(finish_reason_of("end_turn"), FinishReason::stop);
  EXPECT_EQ(finish_reason_of("tool_use"), FinishReason::tool_calls);
  EXPECT_EQ(finish_reason_of("function_call"), FinishReason::tool_calls);
  EXPECT_EQ(finish_reason_of("Max_Tokens"), FinishReason::length);
  EXPECT_EQ(finish_reason_of("SAFETY"), FinishReason::content_filter);
  EXPECT_EQ(finish_reason_of("error"), FinishReason::upstream_error);
  EXPECT_EQ(finish_reason_of("because"), std::nullopt);
  EXPECT_EQ(finish_reason_of("stops"), std::nullopt);
}

TEST(UpstreamRegistry, finds_wire_formats_by_name) {
  EXPECT_EQ(find("openai_chat"), &kOpenaiChat);
  EXPECT_EQ(find("nothing"), nullptr);
  EXPECT_FALSE(all().empty());
}

TEST(OpenaiFields, are_those_of_the_documentation_and_leave_as_they_came) {
  expect_fields(kOpenaiChat, openai_chat_fields());
  for (const RequestField& field : openai_chat_fields()) {
    const auto made = kOpenaiChat.encode(request_with(field.name), {});
    EXPECT_TRUE(made->dropped.empty());
    if (field.effect != "passed on as it came") continue;
    EXPECT_NE(made->body.find("\"" + std::string(field.name) + "\":"), std::string::npos)
        << field.name;
  }
}

}  // namespace
}  // namespace callgate::upstream::openai_chat_test
