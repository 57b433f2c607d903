#include "client/openai_responses/responses_request.h"

#include <gtest/gtest.h>

#include <array>

#include "chat/body_mark.h"
#include "chat/content.h"
#include "chat/message_json.h"
#include "chat/sealed_reasoning.h"
#include "client/openai_responses/openai_responses.h"
#include "client/openai_responses/responses_seal.h"

namespace callgate::client::responses_request_test {
namespace {

std::string body_with(std::string_view fields, std::string_view input = "\"hi\"") {
  std::string body = R"({"model":"m","input":)";
  body.append(input);
  if (!fields.empty()) body.append(",").append(fields);
  return body + "}";
}

Request decoded(std::string_view body) {
  Result<Request> request = decode_openai_responses(body);
  EXPECT_TRUE(request.has_value()) << body << "\n" << (request ? "" : request.error().message);
  return request.value_or(Request{});
}

Request with_input(std::string_view input) { return decoded(body_with("", input)); }

std::string messages_of(std::string_view input) {
  return print_messages(with_input(input).messages);
}

TEST(ResponsesRequest, reads_text_as_a_message_of_the_user) {
  const Request request = decoded(body_with(R"("instructions":"Be brief.","stream":true)"));
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.include_usage);
  EXPECT_EQ(request.origin, "openai_responses");
  EXPECT_EQ(print_messages(request.messages),
            R"([{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}])");
}

TEST(ResponsesRequest, joins_the_items_of_an_answer) {
  EXPECT_EQ(messages_of(R"([{"role":"user","content":[{"type":"input_text","text":"go"}]},
    {"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
    {"type":"function_call","id":"fc_1","call_id":"a","name":"find","arguments":"{}"},
    {"type":"function_call","id":"fc_2","call_id":"b","name":"add","arguments":"{\"x\":1}"},
    {"type":"function_call_output","call_id":"a","output":"1"},
    {"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"2"}]}])"),
            R"([{"role":"user","content":"go"},)"
            R"({"role":"assistant","content":"I look.","tool_calls":[)"
            R"({"id":"a","type":"function","function":{"name":"find","arguments":"{}"}},)"
            R"({"id":"b","type":"function","function":{"name":"add","arguments":"{\"x\":1}"}}]},)"
            R"({"role":"tool","content":"1","tool_call_id":"a"},)"
            R"({"role":"tool","content":"2","tool_call_id":"b"}])");
}

TEST(ResponsesRequest, keeps_text_after_calls_with_them) {
  const Request request =
      with_input(R"([{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
    {"role":"assistant","content":"wait"},{"type":"function_call_output","call_id":"a","output":"1"}])");
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(request.messages[0].content.text, "\"wait\"");
  EXPECT_EQ(request.messages[0].calls.size(), 1u);
}

TEST(ResponsesRequest, reads_images_and_files) {
  EXPECT_EQ(
      messages_of(R"([{"role":"user","content":[{"type":"input_text","text":"see"},
    {"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"low"},
    {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}]}])"),
      R"([{"role":"user","content":[{"type":"text","text":"see"},)"
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}},)"
      R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}]}])");
}

TEST(ResponsesRequest, gives_reasoning_back_to_its_issuer) {
  const Request request = with_input(R"([{"role":"user","content":"hi"},
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"gAAA"},
    {"role":"assistant","content":"yes"}])");
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(
      find_field(request.messages[1].extra, "reasoning_details"),
      R"([{"type":"reasoning.summary","summary":"Hm.","format":"openai-responses-v1","index":0},)"
      R"({"type":"reasoning.encrypted","data":"gAAA","format":"openai-responses-v1","index":0}])");
  EXPECT_EQ(find_field(request.messages[1].extra, "reasoning_content"), "");
}

TEST(ResponsesRequest, opens_what_it_sealed) {
  const std::string element =
      R"({"type":"reasoning.text","text":"Hm.","signature":"EmwK","format":"anthropic-claude-v1","index":0})";
  const Request request =
      with_input(R"([{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":")" +
                 *seal_reasoning(element) + R"("},{"role":"assistant","content":"yes"}])");
  EXPECT_EQ(find_field(request.messages[0].extra, "reasoning_details"), "[" + element + "]");
}

TEST(ResponsesRequest, gives_open_reasoning_back_as_text) {
  const Request request = with_input(
      R"([{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"A"},{"type":"summary_text","text":"B"}]},
      {"type":"function_call","call_id":"a","name":"f","arguments":"{}"}])");
  EXPECT_EQ(find_field(request.messages[0].extra, "reasoning_content"), R"("A\n\nB")");
}

TEST(ResponsesRequest, declares_custom_tools_as_functions) {
  const Request request = decoded(body_with(
      R"("tools":[{"type":"custom","name":"apply_patch","description":"Patches.","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}],
         "tool_choice":{"type":"custom","name":"apply_patch"})",
      R"([{"type":"custom_tool_call","call_id":"a","name":"apply_patch","input":"*** \"x\""},
          {"type":"custom_tool_call_output","call_id":"a","output":"done"}])"));
  ASSERT_EQ(request.tools.size(), 1u);
  EXPECT_EQ(request.tools[0].name, "apply_patch");
  EXPECT_EQ(request.tools[0].description,
            "Patches.\n\n`input` must match this grammar (lark):\nstart: x");
  EXPECT_NE(request.tools[0].parameters.text.find(R"("required":["input"])"), std::string::npos);
  EXPECT_EQ(request.tool_choice.name, "apply_patch");
  ASSERT_EQ(request.client.aliases.size(), 1u);
  EXPECT_EQ(request.client.aliases[0].kind, ToolAlias::Kind::freeform);
  EXPECT_EQ(request.messages[0].calls[0].arguments, R"({"input":"*** \"x\""})");
  EXPECT_EQ(request.messages[1].tool_call_id, "a");
}

TEST(ResponsesRequest, flattens_namespaces) {
  const Request request = decoded(body_with(
      R"("tools":[{"type":"function","name":"fs__read"},{"type":"namespace","name":"fs","tools":[{"type":"function","name":"read"},
         {"type":"custom","name":"run me"}]},{"type":"namespace","name":"mcp__x__","tools":[{"type":"function","name":"go"}]}])",
      R"([{"type":"function_call","call_id":"a","namespace":"fs","name":"read","arguments":"{}"}])"));
  ASSERT_EQ(request.tools.size(), 4u);
  EXPECT_EQ(request.tools[1].name, "fs__read_2");
  EXPECT_EQ(request.tools[2].name, "fs__run_me");
  EXPECT_EQ(request.tools[3].name, "mcp__x__go");
  ASSERT_EQ(request.client.aliases.size(), 3u);
  EXPECT_EQ(request.client.aliases[0].space, "fs");
  EXPECT_EQ(request.client.aliases[0].name, "read");
  EXPECT_EQ(request.messages[0].calls[0].name, "fs__read_2");
}

TEST(ResponsesRequest, shows_only_allowed_tools) {
  const Request request = decoded(body_with(
      R"("tools":[{"type":"function","name":"a"},{"type":"function","name":"b"}],
         "tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"b"}]})"));
  ASSERT_EQ(request.tools.size(), 1u);
  EXPECT_EQ(request.tools[0].name, "b");
  EXPECT_EQ(request.tool_choice.mode, ToolChoice::Mode::required);
}

TEST(ResponsesRequest, lets_a_search_of_the_client_find_tools) {
  const Request request = decoded(body_with(
      R"("tools":[{"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object"}}])",
      R"([{"type":"tool_search_call","call_id":"a","execution":"client","arguments":{"query":"mail"}},
          {"type":"tool_search_output","call_id":"a","tools":[{"type":"function","name":"send"}]}])"));
  ASSERT_EQ(request.tools.size(), 2u);
  EXPECT_EQ(request.tools[0].name, "tool_search");
  EXPECT_EQ(request.tools[1].name, "send");
  EXPECT_EQ(request.messages[0].calls[0].arguments, R"({"query":"mail"})");
  EXPECT_EQ(request.messages[1].role, Role::tool);
}

TEST(ResponsesRequest, passes_settings_on_under_their_other_names) {
  const Request request = decoded(body_with(
      R"("max_output_tokens":7,"temperature":0.50,"reasoning":{"effort":"low","summary":"auto"},"user":"u","prompt_cache_key":"k",
         "text":{"format":{"type":"json_schema","name":"x","schema":{"type":"object"},"strict":true},"verbosity":"low"},
         "parallel_tool_calls":false,"top_logprobs":2,"include":["message.output_text.logprobs","reasoning.encrypted_content"],
         "metadata":{"a":"b"},"store":false,"truncation":"disabled")"));
  EXPECT_EQ(find_field(request.extra, "max_completion_tokens"), "7");
  EXPECT_EQ(find_field(request.extra, "temperature"), "0.50");
  EXPECT_EQ(find_field(request.extra, "reasoning_effort"), "\"low\"");
  EXPECT_EQ(find_field(request.extra, "verbosity"), "\"low\"");
  EXPECT_EQ(
      find_field(request.extra, "response_format"),
      R"({"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"},"strict":true}})");
  EXPECT_EQ(find_field(request.extra, "logprobs"), "true");
  EXPECT_EQ(find_field(request.extra, "top_logprobs"), "2");
  EXPECT_EQ(find_field(request.extra, "prompt_cache_key"), "\"k\"");
  EXPECT_EQ(find_field(request.extra, "metadata"), "");
  EXPECT_TRUE(request.client.own_fields.empty());
}

TEST(ResponsesRequest, reports_what_only_its_own_format_can_say) {
  const Request request = decoded(body_with(
      R"("truncation":"auto","new_thing":1,"tools":[{"type":"web_search"},{"type":"mcp","server_label":"x"}])",
      R"([{"role":"user","content":"hi"},{"type":"item_reference","id":"msg_1"},{"type":"web_search_call","id":"ws_1"}])"));
  std::string names;
  for (const auto& field : request.client.own_fields) names += field.name + " ";
  EXPECT_EQ(names, "truncation new_thing tools[0] tools[1] input[1] input[2] ");
  EXPECT_EQ(request.messages.size(), 1u);
}

TEST(ResponsesRequest, keeps_items_of_other_kinds_as_text) {
  EXPECT_EQ(messages_of(R"([{"type":"local_shell_call_output","id":"x","output":"ok"},
    {"type":"agent_message","author":"/root/a","recipient":"/root","content":[{"type":"input_text","text":"done"}]}])"),
            R"([{"role":"user","content":"[local_shell_call_output]\nok"},)"
            R"({"role":"user","content":"Message from agent /root/a:\ndone"}])");
}

TEST(ResponsesRequest, compacts_and_goes_on_from_a_summary) {
  const Request request =
      with_input(R"([{"type":"compaction","encrypted_content":")" + *seal_summary("We \"met\".") +
                 R"("},{"role":"user","content":"hi"},{"type":"compaction_trigger"}])");
  ASSERT_EQ(request.messages.size(), 3u);
  EXPECT_EQ(text_of(request.messages[0].content),
            "Summary of the conversation so far:\nWe \"met\".");
  EXPECT_TRUE(request.client.compacts);
}

TEST(ResponsesRequest, asks_nothing_of_tools_that_are_not_there) {
  const std::string_view settings = R"("tool_choice":"auto","parallel_tool_calls":false)";
  const Request without = decoded(body_with(settings));
  EXPECT_EQ(without.tool_choice.mode, ToolChoice::Mode::unset);
  EXPECT_FALSE(without.parallel_tool_calls.has_value());
  const Request with =
      decoded(body_with(std::string(settings) + R"(,"tools":[{"type":"function","name":"f"}])"));
  EXPECT_EQ(with.tool_choice.mode, ToolChoice::Mode::automatic);
  EXPECT_EQ(with.parallel_tool_calls, false);
}

TEST(ResponsesRequest, knows_what_of_its_body_was_changed) {
  Request request = decoded(body_with(R"("tools":[{"type":"function","name":"f"}])"));
  EXPECT_TRUE(keeps_messages(request));
  EXPECT_TRUE(keeps_tools(request));
  request.messages.push_back({.role = Role::user});
  request.tools.push_back({.name = "g"});
  EXPECT_TRUE(keeps_messages(request));
  EXPECT_TRUE(keeps_tools(request));
  request.messages[0].content.text = "\"ho\"";
  request.tools[0].name = "h";
  EXPECT_FALSE(keeps_messages(request));
  EXPECT_FALSE(keeps_tools(request));
}

struct Refusal {
  std::string_view body;
  std::string_view message;
  std::string_view param;
};

TEST(ResponsesRequest, names_the_field_that_is_wrong) {
  constexpr std::array<Refusal, 26> kRefusals = {{
      {R"({"input":"hi"})", "model: missing, expected the name of a model", "model"},
      {R"({"model":1,"input":"hi"})", "model: a number, expected the name of a model", "model"},
      {R"({"model":"m"})", "input: missing, expected a string or an array of items", "input"},
      {R"({"model":"m","input":1})", "input: a number, expected a string or an array of items",
       "input"},
      {R"({"model":"m","input":["x"]})", "input[0]: a string, expected an object", "input[0]"},
      {R"({"model":"m","input":[{"type":7}]})", "input[0].type: a number, expected a string",
       "input[0].type"},
      {R"({"model":"m","input":[{}]})", "input[0].type: missing, expected the type of an item",
       "input[0].type"},
      {R"({"model":"m","input":[{"role":"robot","content":"x"}]})",
       "input[0].role: \"robot\", expected user|system|developer|assistant", "input[0].role"},
      {R"({"model":"m","input":[{"role":"user"}]})",
       "input[0].content: missing, expected a string or an array", "input[0].content"},
      {R"({"model":"m","input":[{"role":"user","content":3}]})",
       "input[0].content: a number, expected a string or an array", "input[0].content"},
      {R"({"model":"m","input":[{"role":"user","content":[1]}]})",
       "input[0].content[0]: a number, expected an object", "input[0].content[0]"},
      {R"({"model":"m","input":[{"role":"user","content":[{"type":5}]}]})",
       "input[0].content[0].type: a number, expected a string", "input[0].content[0].type"},
      {R"({"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":5}]}]})",
       "input[0].content[0].text: a number, expected a string", "input[0].content[0].text"},
      {R"({"model":"m","input":[{"type":"function_call","name":"f","arguments":"{}"}]})",
       "input[0].call_id: missing, expected a string", "input[0].call_id"},
      {R"({"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":{}}]})",
       "input[0].arguments: an object, expected a string", "input[0].arguments"},
      {R"({"model":"m","input":[{"type":"function_call_output","call_id":"a"}]})",
       "input[0].output: missing, expected a string or an array of content", "input[0].output"},
      {R"({"model":"m","input":[{"type":"reasoning","summary":"x"}]})",
       "input[0].summary: a string, expected an array", "input[0].summary"},
      {R"({"model":"m","input":"hi","tools":{}})", "tools: an object, expected an array of tools",
       "tools"},
      {R"({"model":"m","input":"hi","tools":[{"type":"function"}]})",
       "tools[0].name: missing, expected a name", "tools[0].name"},
      {R"({"model":"m","input":"hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":4}]}]})",
       "tools[0].tools[0].name: a number, expected a string", "tools[0].tools[0].name"},
      {R"({"model":"m","input":"hi","tool_choice":"maybe"})",
       "tool_choice: \"maybe\", expected auto|none|required or a declared tool", "tool_choice"},
      {R"({"model":"m","input":"hi","stream":"yes"})", "stream: a string, expected true or false",
       "stream"},
      {R"({"model":"m","input":"hi","temperature":3})",
       "temperature: 3, expected a number from 0 to 2", "temperature"},
      {R"({"model":"m","input":"hi","max_output_tokens":0})",
       "max_output_tokens: 0, expected a whole number of at least 1", "max_output_tokens"},
      {R"({"model":"m","input":"hi","text":{"format":{}}})",
       "text.format.type: missing, expected text|json_object|json_schema", "text.format.type"},
      {R"([])", "the body is an array, expected a JSON object", ""},
  }};
  for (const Refusal& refusal : kRefusals) {
    const Result<Request> request = decode_openai_responses(refusal.body);
    ASSERT_FALSE(request.has_value()) << refusal.body;
    EXPECT_EQ(request.error().code, ErrorCode::invalid_request);
    EXPECT_EQ(request.error().param, refusal.param) << refusal.body;
    EXPECT_EQ(request.error().message, refusal.message);
  }
}

// Fields that go on as they are, or stay here, are looked at all the same.
TEST(ResponsesRequest, names_the_setting_that_is_wrong) {
  constexpr std::pair<std::string_view, std::string_view> kRefusals[] = {
      {R"("previous_response_id":5)", "previous_response_id: a number, expected a string"},
      {R"("metadata":"a")", "metadata: a string, expected an object"},
      {R"("metadata":{"a":5})", "metadata.a: a number, expected a string"},
      {R"("truncation":5)", "truncation: a number, expected a string"},
      {R"("stream_options":5)", "stream_options: a number, expected an object"},
      {R"("top_logprobs":"a")", "top_logprobs: a string, expected a whole number from 0 to 20"},
      {R"("top_logprobs":21)", "top_logprobs: 21, expected a whole number from 0 to 20"},
      {R"("conversation":5)", "conversation: a number, expected an id, or an object with one"},
      {R"("user":5)", "user: a number, expected a string"},
      {R"("max_tool_calls":"a")",
       "max_tool_calls: a string, expected a whole number of at least 1"},
      {R"("reasoning":{"summary":5})", "reasoning.summary: a number, expected a string"},
      {R"("tool_choice":{"type":"function","name":5})",
       "tool_choice.name: a number, expected the name of a declared tool"},
      {R"("tool_choice":{"type":"custom"})",
       "tool_choice.name: missing, expected the name of a declared tool"},
      {R"("text":{"verbosity":5})", "text.verbosity: a number, expected a string"},
      {R"("text":{"format":{"type":"json_schema","schema":{}}})",
       "text.format.name: missing, expected a string"},
      {R"("text":{"format":{"type":"json_schema","name":"a","schema":5}})",
       "text.format.schema: a number, expected a JSON schema object"},
      {R"("tools":[{"type":"custom","name":"a","format":5}])",
       "tools[0].format: a number, expected an object"},
      {R"("tools":[{"type":"custom","name":"a","format":{"type":"grammar","syntax":"regex"}}])",
       "tools[0].format.definition: missing, expected the grammar"},
      {R"("tools":[{"type":"custom","name":"a","description":5}])",
       "tools[0].description: a number, expected a string"},
  };
  for (const auto& [field, message] : kRefusals) {
    const std::string body = R"({"model":"m","input":"hi",)" + std::string(field) + "}";
    const Result<Request> request = decode_openai_responses(body);
    ASSERT_FALSE(request.has_value()) << body;
    EXPECT_EQ(request.error().message, message);
    EXPECT_EQ(request.error().param, message.substr(0, message.find(':')));
  }
}

TEST(ResponsesRequest, names_the_medium_that_is_not_there) {
  constexpr std::pair<std::string_view, std::string_view> kRefusals[] = {
      {R"({"type":"input_image"})",
       "input[0].content[0].image_url: missing, expected the image, or a file_id"},
      {R"({"type":"input_image","image_url":5})",
       "input[0].content[0].image_url: a number, expected a string"},
      {R"({"type":"input_image","file_data":"x"})",
       "input[0].content[0].image_url: missing, expected the image, or a file_id"},
      {R"({"type":"input_file","filename":"a"})",
       "input[0].content[0].file_data: missing, expected the file, a file_url or a file_id"},
  };
  for (const auto& [part, message] : kRefusals) {
    const Result<Request> request = decode_openai_responses(
        R"({"model":"m","input":[{"role":"user","content":[)" + std::string(part) + "]}]}");
    ASSERT_FALSE(request.has_value()) << part;
    EXPECT_EQ(request.error().message, message);
  }
  const Result<Request> reference =
      decode_openai_responses(R"({"model":"m","input":[{"type":"item_reference"}]})");
  ASSERT_FALSE(reference.has_value());
  EXPECT_EQ(reference.error().message, "input[0].id: missing, expected a string");
}

TEST(ResponsesRequest, reads_ten_thousand_items) {
  std::string input = "[";
  for (int i = 0; i < 10'000; ++i) {
    input += i == 0 ? "" : ",";
    input += R"({"role":"user","content":[{"type":"input_text","text":"x"}]})";
  }
  EXPECT_EQ(with_input(input + "]").messages.size(), 10'000u);
}

}  // namespace
}  // namespace callgate::client::responses_request_test
