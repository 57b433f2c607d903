#include "upstream/anthropic_messages/anthropic_messages.h"

#include <gtest/gtest.h>

#include "upstream/anthropic_messages/anthropic_conversation.h"
#include "upstream/anthropic_messages/anthropic_error.h"
#include "upstream/fields_testing.h"
#include "upstream/request_testing.h"

namespace callgate::upstream::anthropic_messages_test {
namespace {

UpstreamRequest encoded(const Request& request, const EncodeOptions& options = {.stream = false}) {
  return encoded_by(kAnthropicMessages, request, options);
}

constexpr std::string_view kStart =
    R"({"model":"m","max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}])";

TEST(AnthropicEncode, sends_version_and_key_in_the_style_that_is_asked_for) {
  const UpstreamRequest own = encoded(asked(), {.model = "claude", .key = "k"});
  EXPECT_EQ(own.path, "/messages");
  EXPECT_EQ(header_of(own, "anthropic-version"), "2023-06-01");
  EXPECT_EQ(header_of(own, "x-api-key"), "k");
  EXPECT_EQ(header_of(own, "authorization"), "");
  EXPECT_EQ(own.body, R"({"model":"claude","max_tokens":8192,"messages":[{"role":"user","content":)"
                      R"([{"type":"text","text":"hi"}]}],"stream":true})");
  const UpstreamRequest bearer = encoded(asked(), {.key = "k", .auth = "bearer"});
  EXPECT_EQ(header_of(bearer, "authorization"), "Bearer k");
  EXPECT_EQ(header_of(bearer, "x-api-key"), "");
  EXPECT_EQ(header_of(encoded(asked()), "x-api-key"), "");
}

TEST(AnthropicEncode, gives_each_field_its_place_or_says_that_it_has_none) {
  struct Row {
    std::string_view name;
    std::string_view value;
    std::string_view written;  // after the messages
    std::string_view dropped;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"temperature", "0.50", R"(,"temperature":0.50)", ""},
           {"temperature", "1.5", R"(,"temperature":1)", "temperature!"},
           {"top_p", "0.9", R"(,"top_p":0.9)", ""},
           {"top_p", "1.0", "", ""},
           {"top_k", "40", R"(,"top_k":40)", ""},
           {"stop", R"("END")", R"(,"stop_sequences":["END"])", ""},
           {"stop", R"(["a","\n","b"])", R"(,"stop_sequences":["a","b"])", "stop!"},
           {"user", R"("u1")", R"(,"metadata":{"user_id":"u1"})", ""},
           {"safety_identifier", R"("u2")", R"(,"metadata":{"user_id":"u2"})", ""},
           {"metadata", R"({"user_id":"u3","a":"b"})", R"(,"metadata":{"user_id":"u3"})", ""},
           {"metadata", R"({"a":"b"})", "", "metadata"},
           {"service_tier", R"("default")", R"(,"service_tier":"standard_only")", ""},
           {"service_tier", R"("flex")", "", "service_tier"},
           {"reasoning_effort", R"("minimal")",
            R"(,"output_config":{"effort":"low"},"thinking":{"type":"adaptive"})", ""},
           {"reasoning_effort", R"("none")", R"(,"thinking":{"type":"disabled"})", ""},
           {"reasoning_effort", R"("huge")", "", "reasoning_effort!"},
           {"thinking", R"({"type":"enabled","budget_tokens":2000})",
            R"(,"thinking":{"type":"enabled","budget_tokens":2000})", ""},
           {"response_format",
            R"({"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}})",
            R"(,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}})", ""},
           {"response_format", R"({"type":"json_object"})", "", "response_format!"},
           {"response_format", R"({"type":"text"})", "", ""},
           {"cache_control", R"({"type":"ephemeral"})", R"(,"cache_control":{"type":"ephemeral"})",
            ""},
           {"frequency_penalty", "0", "", ""},
           {"frequency_penalty", "0.5", "", "frequency_penalty!"},
           {"seed", "7", "", "seed!"},
           {"seed", "null", "", ""},
           {"store", "true", "", "store"},
           {"made_up", "1", "", "made_up!"},
       }) {
    SCOPED_TRACE(std::string(row.name) + " " + std::string(row.value));
    const UpstreamRequest made =
        encoded(asked({{std::string(row.name), {std::string(row.value)}}}));
    EXPECT_EQ(made.body, std::string(kStart) + std::string(row.written) + "}");
    EXPECT_EQ(print_dropped(made.dropped), row.dropped);
  }
}

TEST(AnthropicEncode, takes_the_limit_of_the_caller) {
  const auto limit = [](std::vector<ExtraField> extra) {
    const std::string body = encoded(asked(std::move(extra))).body;
    return body.substr(13, body.find(',', 13) - 13);
  };
  EXPECT_EQ(limit({}), R"("max_tokens":8192)");
  EXPECT_EQ(limit({{"max_tokens", {"5"}}}), R"("max_tokens":5)");
  EXPECT_EQ(limit({{"max_tokens", {"5"}}, {"max_completion_tokens", {"6"}}}), R"("max_tokens":6)");
}

TEST(AnthropicEncode, sends_no_sampling_beside_thinking) {
  const UpstreamRequest made = encoded(asked({{"reasoning_effort", {"\"high\""}},
                                              {"temperature", {"0.2"}},
                                              {"top_p", {"0.5"}},
                                              {"top_k", {"3"}}}));
  EXPECT_EQ(made.body.find("temperature"), std::string::npos);
  EXPECT_EQ(print_dropped(made.dropped), "temperature! top_p! top_k!");
}

TEST(AnthropicEncode, lets_the_api_s_own_fields_win) {
  const UpstreamRequest made = encoded(
      asked({{"reasoning_effort", {"\"high\""}}, {"output_config", {R"({"effort":"max"})"}}}));
  EXPECT_EQ(made.body, std::string(kStart) + R"(,"output_config":{"effort":"max"}})");
  EXPECT_EQ(print_dropped(made.dropped), "reasoning_effort!");
}

TEST(AnthropicEncode, writes_tools_and_the_choice_among_them) {
  Request request = asked();
  request.tools.push_back({.name = "find",
                           .description = "d",
                           .parameters = {R"({ "type":"object" })"},
                           .extra = {{"strict", {"true"}}},
                           .outer_extra = {{"cache_control", {R"({"type":"ephemeral"})"}}}});
  request.tools.push_back({.name = "add"});
  request.tools.push_back({.name = "odd", .parameters = {"{}"}});
  request.tools.push_back({.name = "typeless", .parameters = {R"({"properties":{}})"}});
  request.other_tools.push_back({R"({"type":"web_search_20250305","name":"web_search"})"});
  request.other_tools.push_back({R"({"type":"custom","custom":{"name":"x"}})"});
  const std::string tools =
      R"(,"tools":[{"name":"find","description":"d","input_schema":{ "type":"object" },"strict":true,)"
      R"("cache_control":{"type":"ephemeral"}},)"
      R"({"name":"add","input_schema":{"type":"object","properties":{}}},)"
      R"({"name":"odd","input_schema":{"type":"object"}},)"
      R"({"name":"typeless","input_schema":{"type":"object","properties":{}}},)"
      R"({"type":"web_search_20250305","name":"web_search"}])";
  const UpstreamRequest made = encoded(request);
  EXPECT_EQ(made.body, std::string(kStart) + tools + "}");
  EXPECT_EQ(print_dropped(made.dropped), "other_tools!");

  using Mode = ToolChoice::Mode;
  struct Row {
    Mode mode;
    std::optional<bool> parallel;
    std::string_view written;
  };
  for (const Row& row : std::initializer_list<Row>{
           {Mode::unset, true, ""},
           {Mode::unset, false, R"({"type":"auto","disable_parallel_tool_use":true})"},
           {Mode::automatic, {}, R"({"type":"auto"})"},
           {Mode::none, false, R"({"type":"none"})"},
           {Mode::required, {}, R"({"type":"any"})"},
           {Mode::named, false, R"({"type":"tool","name":"add","disable_parallel_tool_use":true})"},
       }) {
    request.tool_choice = {.mode = row.mode, .name = "add"};
    request.parallel_tool_calls = row.parallel;
    const std::string choice =
        row.written.empty() ? "" : ",\"tool_choice\":" + std::string(row.written);
    EXPECT_EQ(encoded(request).body, std::string(kStart) + tools + choice + "}");
  }
}

TEST(AnthropicEncode, does_not_think_where_a_call_is_forced) {
  Request request = asked({{"reasoning_effort", {"\"high\""}}});
  request.tools.push_back({.name = "add"});
  request.tool_choice = {.mode = ToolChoice::Mode::required};
  const std::string body = encoded(request).body;
  EXPECT_EQ(body.find("\"thinking\""), std::string::npos);
  EXPECT_NE(body.find(R"("output_config":{"effort":"high"})"), std::string::npos);
}

TEST(AnthropicConversation, orders_a_long_conversation_as_the_api_wants_it) {
  Message failed = result("functions.find:0", "\"no\"");
  failed.extra.push_back({"is_error", {"true"}});
  const AnthropicConversation made = encode_anthropic_conversation({
      {.role = Role::system, .content = {"\"Be brief.\""}},
      {.role = Role::developer,
       .content = {R"([{"type":"text","text":"Really.","cache_control":{"type":"ephemeral"}}])"}},
      user("\"one\""),
      user("\"two\""),
      assistant("\"\"", {{.id = "functions.find:0", .name = "find", .arguments = "{ \"q\": 1 }"},
                         {.id = "toolu_2", .name = "add", .arguments = ""}}),
      user("\"by the way\""),
      failed,
      result("toolu_2", "[]"),
      assistant("\"done  \""),
  });
  EXPECT_EQ(made.system, R"([{"type":"text","text":"Be brief."},{"type":"text","text":"Really.",)"
                         R"("cache_control":{"type":"ephemeral"}}])");
  EXPECT_EQ(
      made.messages,
      R"([{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"cg_functions_2efind_3a0","name":"find",)"
      R"("input":{ "q": 1 }},{"type":"tool_use","id":"toolu_2","name":"add","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"cg_functions_2efind_3a0",)"
      R"("content":"no","is_error":true},{"type":"tool_result","tool_use_id":"toolu_2"},)"
      R"({"type":"text","text":"by the way"}]},)"
      R"({"role":"assistant","content":[{"type":"text","text":"done"}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "");
}

TEST(AnthropicConversation, puts_images_and_documents_into_messages_and_results) {
  const AnthropicConversation made = encode_anthropic_conversation({
      user(
          R"([{"type":"image_url","image_url":{"url":"data:image/jpg;base64,AA=="}},)"
          R"({"type":"image_url","image_url":{"url":"https://x/y.png"},"cache_control":{"a":1}},)"
          R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,BB"}},)"
          R"({"type":"document","source":{"type":"url","url":"u"}},)"
          R"({"type":"input_audio","input_audio":{}},{"type":"text","text":" "}])"),
      result("a", R"([{"type":"text","text":"see"},)"
                  R"({"type":"image_url","image_url":{"url":"data:image/png;base64,CC"}}])"),
  });
  EXPECT_EQ(
      made.messages,
      R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[)"
      R"({"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png",)"
      R"("data":"CC"}}]},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"AA=="}},)"
      R"({"type":"image","source":{"type":"url","url":"https://x/y.png"},"cache_control":{"a":1}},)"
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"BB"},)"
      R"("title":"a.pdf"},{"type":"document","source":{"type":"url","url":"u"}}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "messages[0].content[4]!");
}

TEST(AnthropicConversation, puts_thinking_back_where_it_stood) {
  Message answer = assistant("\"text\"", {{.id = "a", .name = "find", .arguments = "{}"}});
  answer.extra.push_back(
      {"reasoning_details",
       {R"([{"type":"reasoning.text","text":"second","signature":"s2","format":"anthropic-claude-v1","index":2},)"
        R"({"type":"reasoning.text","text":"foreign","signature":"x","format":"google-gemini-v1","index":0},)"
        R"({"type":"reasoning.text","text":"unsigned","format":"anthropic-claude-v1","index":0},)"
        R"({"type":"reasoning.encrypted","data":"d","format":"anthropic-claude-v1","index":0}])"}});
  answer.extra.push_back({"reasoning_content", {"\"second\""}});
  answer.extra.push_back({"cache_control", {R"({"type":"ephemeral"})"}});
  EXPECT_EQ(
      encode_anthropic_conversation({answer}).messages,
      R"([{"role":"assistant","content":[{"type":"redacted_thinking","data":"d"},)"
      R"({"type":"text","text":"text"},{"type":"thinking","thinking":"second","signature":"s2"},)"
      R"({"type":"tool_use","id":"a","name":"find","input":{},"cache_control":{"type":"ephemeral"}}]}])");

  Message alike = assistant("\"text\"");
  alike.extra.push_back(
      {"reasoning_details",
       {R"([{"type":"reasoning.encrypted","data":"1","format":"anthropic-claude-v1"},)"
        R"({"type":"reasoning.encrypted","data":"2","format":"anthropic-claude-v1"},)"
        R"({"type":"reasoning.encrypted","data":"3","format":"anthropic-claude-v1"}])"}});
  EXPECT_EQ(encode_anthropic_conversation({alike}).messages,
            R"([{"role":"assistant","content":[{"type":"redacted_thinking","data":"1"},)"
            R"({"type":"redacted_thinking","data":"2"},{"type":"redacted_thinking","data":"3"},)"
            R"({"type":"text","text":"text"}]}])");

  Message only = assistant("null");
  only.extra.push_back(answer.extra[0]);
  const AnthropicConversation made = encode_anthropic_conversation({user("\"q\""), only});
  EXPECT_EQ(made.messages, R"([{"role":"user","content":[{"type":"text","text":"q"}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "messages[1].reasoning_details");
}

TEST(AnthropicConversation, loses_nothing_that_it_need_not_lose) {
  Message refused = assistant("null");
  refused.extra.push_back({"refusal", {"\"I can't.\""}});
  Message named = user("\"x\"");
  named.name = "ann";
  const AnthropicConversation made =
      encode_anthropic_conversation({named, refused, user("\"\""),
                                     assistant("null", {{.name = "f", .arguments = "{broken"},
                                                        {.name = "g", .arguments = "[1]"}}),
                                     result("", "\"r1\""), result("", "\"r2\"")});
  EXPECT_EQ(
      made.messages,
      R"([{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":[)"
      R"({"type":"text","text":"I can't."},{"type":"tool_use","id":"call_1","name":"f","input":{"raw":"{broken"}},)"
      R"({"type":"tool_use","id":"call_2","name":"g","input":{"raw":"[1]"}}]},{"role":"user","content":[)"
      R"({"type":"tool_result","tool_use_id":"call_1","content":"r1"},)"
      R"({"type":"tool_result","tool_use_id":"call_2","content":"r2"}]}])");
  EXPECT_EQ(print_dropped(made.dropped), "messages[0].name messages[2].content!");
  EXPECT_EQ(
      encode_anthropic_conversation({{.role = Role::system, .content = {"\"alone\""}}}).messages,
      R"([{"role":"user","content":[{"type":"text","text":"alone"}]}])");
}

TEST(AnthropicConversation, reports_calls_and_audio_that_it_cannot_send) {
  Message answer = assistant("\"text\"");
  answer.extra.push_back({"tool_calls", {R"("not a list")"}});
  answer.extra.push_back({"audio", {R"({"id":"a"})"}});
  EXPECT_EQ(print_dropped(encode_anthropic_conversation({answer}).dropped),
            "messages[0].tool_calls! messages[0].audio!");
}

TEST(AnthropicCallId, keeps_ids_of_letters_digits_and_dashes) {
  for (const std::string_view id :
       {"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "_-"}) {
    EXPECT_EQ(anthropic_call_id(id), id);
  }
  for (const std::string_view id : {"`", "{", "@", "[", "/", ":"}) {
    EXPECT_NE(anthropic_call_id(id), id);
  }
}

TEST(AnthropicCallId, is_another_for_each_id) {
  EXPECT_EQ(anthropic_call_id("toolu_01-A"), "toolu_01-A");
  EXPECT_EQ(anthropic_call_id("functions.x:0"), "cg_functions_2ex_3a0");
  EXPECT_EQ(anthropic_call_id("cg_functions_2ex_3a0"), "cg_cg_5ffunctions_5f2ex_5f3a0");
  EXPECT_EQ(anthropic_call_id("é"), "cg__c3_a9");
}

TEST(AnthropicError, keeps_what_the_upstream_said) {
  struct Row {
    int status;
    std::string_view body;
    ErrorCode code;
    std::string_view message;
    std::string_view type;
  };
  for (const Row& row : std::initializer_list<Row>{
           {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
            ErrorCode::unavailable, "Overloaded", "overloaded_error"},
           {0, R"({"error":{"message":"Overloaded","type":"overloaded_error"},"type":"error"})",
            ErrorCode::unavailable, "Overloaded", "overloaded_error"},
           {429, R"({"type":"error","error":{"type":"rate_limit_error","message":"Slow"}})",
            ErrorCode::rate_limited, "Slow", "rate_limit_error"},
           {0, R"({"type":"error","error":{"type":"timeout_error","message":"Late"}})",
            ErrorCode::timed_out, "Late", "timeout_error"},
           {0, R"({"type":"error","error":{"type":"request_too_large","message":"Big"}})",
            ErrorCode::too_large, "Big", "request_too_large"},
           {400, R"({"type":"error","error":{"type":"invalid_request_error","message":"Bad"}})",
            ErrorCode::invalid_request, "Bad", "invalid_request_error"},
           {401, R"({"type":"error","error":{"type":"authentication_error","message":"sk-1"}})",
            ErrorCode::upstream_failed, "the upstream refused callgate's key",
            "authentication_error"},
           {0, R"({"type":"error","error":{"type":"authentication_error","message":"sk-1"}})",
            ErrorCode::upstream_failed, "the upstream refused callgate's key",
            "authentication_error"},
           {502, "<html>", ErrorCode::upstream_failed,
            "upstream answered with status 502 and a page instead of JSON", ""},
       }) {
    const Error error = decode_anthropic_error(row.status, row.body);
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ(error.type, row.type);
    EXPECT_EQ(error.status, row.status);
  }
}

TEST(AnthropicFields, are_those_of_the_documentation) {
  expect_fields(kAnthropicMessages, anthropic_fields());
}

}  // namespace
}  // namespace callgate::upstream::anthropic_messages_test
