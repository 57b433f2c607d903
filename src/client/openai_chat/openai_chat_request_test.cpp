#include "client/openai_chat/openai_chat_request.h"

#include <gtest/gtest.h>

#include "client/openai_chat/openai_chat.h"
#include "json/writer.h"

namespace callgate::client::openai_chat_request_test {
namespace {

constexpr std::string_view kHi = R"([{"role":"user","content":"hi"}])";

std::string body_with(std::string_view fields, std::string_view messages = kHi) {
  std::string body = R"({"model":"m","messages":)";
  body.append(messages);
  if (!fields.empty()) body.append(",").append(fields);
  return body + "}";
}

Request decoded(std::string_view body) {
  Result<Request> request = decode_openai_chat(body);
  EXPECT_TRUE(request.has_value()) << body << "\n" << (request ? "" : request.error().message);
  return request.value_or(Request{});
}

Error refused(std::string_view body) {
  Result<Request> request = decode_openai_chat(body);
  EXPECT_FALSE(request.has_value()) << body;
  return request ? Error{} : request.error();
}

TEST(OpenaiRequest, reads_a_full_request) {
  const Request request =
      decoded(R"({"model":"gpt","stream":true,"stream_options":{"include_usage":true,
    "include_obfuscation":false},"temperature":0.50,"n":2,"parallel_tool_calls":false,"metadata":{"a":[1]},
    "messages":[{"role":"system","content":"be kind"},
      {"role":"user","name":"ann","content":[{"type":"text","text":"hi"}]},
      {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"find","arguments":"{\"q\":1}"},"extra_content":{"s":1}}]},
      {"role":"tool","tool_call_id":"c1","content":"42"}],
    "tools":[{"type":"function","function":{"name":"find","description":"d","parameters":{"type": "object"},
      "strict":true},"cache_control":{"type":"ephemeral"}},{"type":"web_search","size":1}],
    "tool_choice":{"type":"function","function":{"name":"find"}}})");
  EXPECT_EQ(request.model, "gpt");
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.include_usage);
  ASSERT_EQ(request.stream_options.size(), 1u);
  EXPECT_EQ(request.stream_options[0].name, "include_obfuscation");
  EXPECT_EQ(request.choices, 2u);
  EXPECT_EQ(request.parallel_tool_calls, false);
  ASSERT_EQ(request.messages.size(), 4u);
  EXPECT_EQ(request.messages[1].name, "ann");
  EXPECT_EQ(request.messages[1].content.text, R"([{"type":"text","text":"hi"}])");
  ASSERT_EQ(request.messages[2].calls.size(), 1u);
  EXPECT_EQ(request.messages[2].calls[0].arguments, R"({"q":1})");
  EXPECT_EQ(request.messages[2].calls[0].extra[0].name, "extra_content");
  EXPECT_EQ(request.messages[2].extra[0].name, "reasoning_content");
  EXPECT_EQ(request.messages[3].role, Role::tool);
  EXPECT_EQ(request.messages[3].tool_call_id, "c1");
  ASSERT_EQ(request.tools.size(), 1u);
  EXPECT_EQ(request.tools[0].parameters.text, R"({"type": "object"})");
  EXPECT_EQ(request.tools[0].extra[0].name, "strict");
  EXPECT_EQ(request.tools[0].outer_extra[0].name, "cache_control");
  ASSERT_EQ(request.other_tools.size(), 1u);
  EXPECT_EQ(request.other_tools[0].text, R"({"type":"web_search","size":1})");
  EXPECT_EQ(request.tool_choice.mode, ToolChoice::Mode::named);
  ASSERT_EQ(request.extra.size(), 2u);
  EXPECT_EQ(request.extra[0], (ExtraField{"temperature", {"0.50"}}));
  EXPECT_EQ(request.extra[1], (ExtraField{"metadata", {R"({"a":[1]})"}}));
}

TEST(OpenaiRequest, takes_every_number_of_choices_in_range) {
  EXPECT_EQ(decoded(body_with(R"("n":1)")).choices, 1u);
  EXPECT_EQ(decoded(body_with(R"("n":128)")).choices, 128u);
}

TEST(OpenaiRequest, takes_numbers_at_the_ends_of_their_ranges) {
  for (const std::string_view field :
       {R"("temperature":0)", R"("temperature":2)", R"("top_p":0)", R"("top_p":1)",
        R"("presence_penalty":-2)", R"("presence_penalty":2)", R"("frequency_penalty":-2)",
        R"("frequency_penalty":2)", R"("max_tokens":1)", R"("max_completion_tokens":1)"}) {
    const Request request = decoded(body_with(field));
    ASSERT_EQ(request.extra.size(), 1u) << field;
    EXPECT_EQ("\"" + request.extra[0].name + "\":" + request.extra[0].value.text, field);
  }
  const std::string longest(256, 'x');
  EXPECT_EQ(decoded(body_with(R"("tools":[{"type":"function","function":{"name":")" + longest +
                              R"("}}])"))
                .tools[0]
                .name,
            longest);
}

TEST(OpenaiRequest, of_repeated_functions_the_last_counts) {
  const Request request =
      decoded(body_with(R"("functions":[{"name":"a"},{"name":"b"}],"functions":[{"name":"c"}])"));
  ASSERT_EQ(request.tools.size(), 1u);
  EXPECT_EQ(request.tools[0].name, "c");
}

TEST(OpenaiRequest, another_kind_of_tool_may_have_any_member) {
  const Request request = decoded(body_with(R"("tools":[{"type":"custom","function":7}])"));
  ASSERT_EQ(request.other_tools.size(), 1u);
  EXPECT_EQ(request.other_tools[0].text, R"({"type":"custom","function":7})");
}

struct Refusal {
  std::string body;
  std::string param;
  std::string message;  // a part of it
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> kRefusals = {
      {R"([1])", "", "the body is an array, expected a JSON object"},
      {R"({"messages":[{"role":"user","content":"x"}]})", "model", "missing"},
      {R"({"model":5,"messages":[{"role":"user","content":"x"}]})", "model", "a number"},
      {R"({"model":null,"messages":[]})", "model", "null"},
      {R"({"model":"","messages":[{"role":"user","content":"x"}]})", "model", "empty"},
      {R"({"model":"m"})", "messages", "missing"},
      {body_with("", "[]"), "messages", "empty"},
      {body_with("", "{}"), "messages", "an object"},
      {body_with("", "null"), "messages", "null"},
      {body_with("", R"(["x"])"), "messages[0]", "a string"},
      {body_with("", R"([{"content":"x"}])"), "messages[0].role", "missing"},
      {body_with("", R"([{"role":"user","content":"x"},{"role":"robot"}])"), "messages[1].role",
       "\"robot\", expected system|developer|user|assistant|tool|function"},
      {body_with("", R"([{"role":1}])"), "messages[0].role", "a number"},
      {body_with("", R"([{"role":"user"}])"), "messages[0].content", "missing"},
      {body_with("", R"([{"role":"user","content":7}])"), "messages[0].content", "a number"},
      {body_with("", R"([{"role":"user","content":{}}])"), "messages[0].content", "an object"},
      {body_with("", R"([{"role":"user","content":["x"]}])"), "messages[0].content[0]", "part"},
      {body_with("", R"([{"role":"user","content":[{"type":"text"},{}]}])"),
       "messages[0].content[1].type", "missing"},
      {body_with("", R"([{"role":"user","name":3,"content":"x"}])"), "messages[0].name", "string"},
      {body_with("", R"([{"role":"tool","content":"x"}])"), "messages[0].tool_call_id", "missing"},
      {body_with("", R"([{"role":"assistant","tool_calls":{}}])"), "messages[0].tool_calls",
       "an object"},
      {body_with("", R"([{"role":"assistant","tool_calls":[1]}])"), "messages[0].tool_calls[0]",
       "a number"},
      {body_with("", R"([{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}])"),
       "messages[0].tool_calls[0].id", "missing"},
      {body_with("", R"([{"role":"assistant","tool_calls":[{"id":"a"}]}])"),
       "messages[0].tool_calls[0].function", "missing"},
      {body_with("", R"([{"role":"assistant","tool_calls":[{"id":"a","function":{}}]}])"),
       "messages[0].tool_calls[0].function.name", "missing"},
      {body_with(
           "",
           R"([{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":1}}]}])"),
       "messages[0].tool_calls[0].function.arguments", "a number"},
      {body_with(
           "",
           R"([{"role":"user","content":"x","tool_calls":[{"id":"a","function":{"name":"f"}}]}])"),
       "messages[0].tool_calls", "assistant"},
      {body_with(R"("tools":{})"), "tools", "an object"},
      {body_with(R"("tools":["x"])"), "tools[0]", "a string"},
      {body_with(R"("tools":[{"function":{"name":"f"}}])"), "tools[0].type", "missing"},
      {body_with(R"("tools":[{"type":"function"}])"), "tools[0].function", "missing"},
      {body_with(R"("tools":[{"type":"function","function":{}}])"), "tools[0].function.name",
       "missing"},
      {body_with(R"("tools":[{"type":"function","function":{"name":"f","parameters":[]}}])"),
       "tools[0].function.parameters", "an array"},
      {body_with(R"("tools":[{"type":"function","function":{"name":")" + std::string(257, 'x') +
                 R"("}}])"),
       "tools[0].function.name", "at most 256"},
      {body_with(R"("tools":[{"type":"function","function":7}])"), "tools[0].function", "missing"},
      {body_with(R"("tool_choice":"maybe")"), "tool_choice", "\"maybe\""},
      {body_with(R"("tool_choice":1)"), "tool_choice", "a number"},
      {body_with(R"("tool_choice":{"type":"function"})"), "tool_choice.function.name", "missing"},
      {body_with(R"("n":0)"), "n", "1 to 128"},
      {body_with(R"("n":129)"), "n", "1 to 128"},
      {body_with(R"("n":1.5)"), "n", "1 to 128"},
      {body_with(R"("n":"1")"), "n", "a string"},
      {body_with(R"("temperature":2.1)"), "temperature", "from 0 to 2"},
      {body_with(R"("temperature":"hot")"), "temperature", "a string"},
      {body_with(R"("top_p":-0.1)"), "top_p", "from 0 to 1"},
      {body_with(R"("presence_penalty":-3)"), "presence_penalty", "from -2 to 2"},
      {body_with(R"("frequency_penalty":3)"), "frequency_penalty", "from -2 to 2"},
      {body_with(R"("max_tokens":0)"), "max_tokens", "at least 1"},
      {body_with(R"("max_completion_tokens":1.5)"), "max_completion_tokens", "whole number"},
      {body_with(R"("stream":"yes")"), "stream", "true or false"},
      {body_with(R"("stream_options":{"include_usage":true})"), "stream_options", "stream"},
      {body_with(R"("stream":true,"stream_options":1)"), "stream_options", "an object"},
      {body_with(R"("stream":true,"stream_options":{"include_usage":1})"),
       "stream_options.include_usage", "true or false"},
      {body_with(R"("parallel_tool_calls":1)"), "parallel_tool_calls", "true or false"},
      {body_with(R"("functions":[{}])"), "functions[0].name", "missing"},
      {body_with(R"("functions":[{"name":"f"}],"function_call":{"name":"g"})"), "function_call",
       "declared"},
      {body_with(
           R"("functions":[{"name":"f"}],"tools":[{"type":"function","function":{"name":"f"}}])"),
       "functions", "beside tools"},
  };
  return kRefusals;
}

TEST(OpenaiRequest, names_the_field_at_fault) {
  for (const Refusal& row : refusals()) {
    const Error error = refused(row.body);
    EXPECT_EQ(error.code, ErrorCode::invalid_request) << row.body;
    EXPECT_EQ(error.param, row.param) << row.body;
    EXPECT_NE(error.message.find(row.message), std::string::npos) << error.message;
  }
}

TEST(OpenaiRequest, says_where_the_json_breaks) {
  const Error error = refused("{\"model\":\"m\",\n  \"messages\": [}");
  EXPECT_NE(error.message.find("at byte 29 (line 2, column 16)"), std::string::npos)
      << error.message;
  EXPECT_EQ(error.param, "");
  EXPECT_EQ(refused("").code, ErrorCode::invalid_request);
  EXPECT_EQ(refused("{\"model\":\"m\"} x").code, ErrorCode::invalid_request);
}

TEST(OpenaiRequest, says_where_the_json_breaks_before_what_is_wrong_with_its_fields) {
  for (const std::string_view body :
       {R"({"model":7,"messages":[]} x)", R"({"model":7,"messages":[)",
        R"({"messages":[{"role":"nobody"}],"tools":[tru]})", R"({"model":"m","messages":[{"role":)",
        R"({"model":"m","messages":[{"role":"user","content":[{"type":"text")"}) {
    const Error error = refused(body);
    EXPECT_NE(error.message.find("not valid JSON"), std::string::npos) << error.message;
    EXPECT_EQ(error.param, "") << body;
  }
}

TEST(OpenaiRequest, refuses_nesting_deeper_than_the_limit) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const Error error = refused(body_with("\"x\":" + deep));
  EXPECT_NE(error.message.find("128"), std::string::npos) << error.message;
}

TEST(OpenaiRequest, takes_null_as_not_given) {
  const Request request = decoded(body_with(
      R"("tools":null,"tool_choice":null,"n":null,"stream":null,"stream_options":null,"temperature":null,
         "max_tokens":null,"parallel_tool_calls":null,"functions":null,"function_call":null,"user":null)",
      R"([{"role":"assistant","content":null,"name":null,"tool_calls":null,"function_call":null}])"));
  EXPECT_EQ(request.choices, 1u);
  EXPECT_FALSE(request.stream);
  EXPECT_FALSE(request.parallel_tool_calls.has_value());
  EXPECT_FALSE(request.legacy_functions);
  ASSERT_EQ(request.extra.size(), 1u);
  EXPECT_EQ(request.extra[0].name, "user");
}

TEST(OpenaiRequest, converts_functions_to_tools) {
  const Request request = decoded(
      body_with(R"("functions":[{"name":"find","parameters":{}}],"function_call":{"name":"find"})",
                R"([{"role":"user","content":"x"},
          {"role":"assistant","content":null,"function_call":{"name":"find","arguments":"{}"}},
          {"role":"function","name":"find","content":"42"}])"));
  EXPECT_TRUE(request.legacy_functions);
  ASSERT_EQ(request.tools.size(), 1u);
  EXPECT_EQ(request.tools[0].name, "find");
  EXPECT_EQ(request.tool_choice.name, "find");
  EXPECT_EQ(request.parallel_tool_calls, false);
  ASSERT_EQ(request.messages[1].calls.size(), 1u);
  EXPECT_EQ(request.messages[2].role, Role::tool);
  EXPECT_EQ(request.messages[2].tool_call_id, request.messages[1].calls[0].id);
}

TEST(OpenaiRequest, passes_calls_and_choices_of_other_kinds_on) {
  const Request request = decoded(body_with(
      R"("tool_choice":{"type":"allowed_tools","mode":"auto"})",
      R"([{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"x","input":"y"}}]}])"));
  EXPECT_TRUE(request.messages[0].calls.empty());
  ASSERT_EQ(request.messages[0].extra.size(), 1u);
  EXPECT_EQ(request.messages[0].extra[0].name, "tool_calls");
  ASSERT_EQ(request.extra.size(), 1u);
  EXPECT_EQ(request.extra[0].name, "tool_choice");
}

TEST(OpenaiRequest, takes_arguments_that_a_client_echoes_as_an_object) {
  const Request request = decoded(body_with(
      "",
      R"([{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":{"q": 1}}}]}])"));
  EXPECT_EQ(request.messages[0].calls[0].arguments, R"({"q": 1})");
}

TEST(OpenaiRequest, lets_the_last_of_two_equal_keys_count) {
  const Request request =
      decoded(R"({"model":"a","model":"b","messages":[{"role":"user","content":"x"}],
                  "messages":[{"role":"user","content":"y"}]})");
  EXPECT_EQ(request.model, "b");
  ASSERT_EQ(request.messages.size(), 1u);
  EXPECT_EQ(request.messages[0].content.text, "\"y\"");
}

TEST(OpenaiRequest, reads_a_hundred_thousand_messages) {
  std::string messages = "[";
  for (int i = 0; i < 100'000; ++i) {
    messages += i == 0 ? R"({"role":"user","content":"x"})" : R"(,{"role":"user","content":"x"})";
  }
  EXPECT_EQ(decoded(body_with("", messages + "]")).messages.size(), 100'000u);
}

TEST(OpenaiRequest, takes_a_schema_of_a_megabyte) {
  const std::string schema = R"({"type":"object","x":")" + std::string(1 << 20, 'a') + "\"}";
  const Request request = decoded(body_with(
      R"("tools":[{"type":"function","function":{"name":"f","parameters":)" + schema + "}}]"));
  EXPECT_EQ(request.tools[0].parameters.text, schema);
}

TEST(OpenaiRequest, refuses_more_than_4096_tools) {
  std::string tools;
  for (int i = 0; i < 4097; ++i) {
    tools += tools.empty() ? "" : ",";
    tools += R"({"type":"function","function":{"name":"f)";
    json::append_integer(tools, i);
    tools += "\"}}";
  }
  EXPECT_EQ(refused(body_with("\"tools\":[" + tools + "]")).param, "tools");
}

}  // namespace
}  // namespace callgate::client::openai_chat_request_test
