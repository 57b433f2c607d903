#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/content.h"
#include "chat/message_json.h"
#include "chat/sealed_reasoning.h"
#include "client/anthropic_messages/anthropic_messages.h"

namespace callgate::client::messages_request_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string body_with(std::string_view members) {
  return R"({"model":"m","max_tokens":9,)" + std::string(members) + "}";
}

Request read(std::string_view members) {
  const std::string body = body_with(members);
  auto request = decode_messages({.body = body});
  if (!request) {
    ADD_FAILURE() << request.error().message;
    return {};
  }
  return std::move(*request);
}

std::string messages(std::string_view members) { return print_messages(read(members).messages); }

std::string one_message(std::string_view content, std::string_view role = "user") {
  return messages(R"("messages":[{"role":")" + std::string(role) + R"(","content":)" +
                  std::string(content) + "}]");
}

std::string fault(std::string_view body) {
  const auto request = decode_messages({.body = body});
  return request ? "none" : request.error().message;
}

std::string fault_in(std::string_view members) { return fault(body_with(members)); }

std::vector<std::string> native_names(const Request& request) {
  std::vector<std::string> names;
  for (const NativeField& field : request.native) names.push_back(field.name);
  return names;
}

constexpr std::string_view kHi = R"("messages":[{"role":"user","content":"hi"}])";

std::string with_hi(std::string_view members) {
  return std::string(kHi).append(",").append(members);
}

TEST(MessagesRequest, reads_the_smallest_request) {
  const Request request = read(kHi);
  EXPECT_EQ(request.model, "m");
  EXPECT_FALSE(request.stream);
  EXPECT_TRUE(request.include_usage);
  EXPECT_EQ(request.origin, "anthropic_messages");
  EXPECT_EQ(request.body.text, body_with(kHi));
  EXPECT_EQ(print_messages(request.messages), R"([{"role":"user","content":"hi"}])");
  EXPECT_EQ(find_field(request.extra, "max_tokens"), "9");
}

TEST(MessagesRequest, puts_the_system_prompt_first) {
  EXPECT_EQ(messages(with_hi(R"("system":"be brief")")),
            R"([{"role":"system","content":"be brief"},{"role":"user","content":"hi"}])");
  EXPECT_EQ(
      messages(with_hi(
          R"("system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2"},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}])")),
      R"([{"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":"hi"}])");
}

TEST(MessagesRequest, reads_every_block_of_a_user) {
  EXPECT_EQ(one_message(R"([{"type":"text","text":"a\n"}])"),
            R"([{"role":"user","content":"a\n"}])");
  EXPECT_EQ(
      one_message(
          R"([{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"image","source":{"type":"url","url":"https://x/y"}}])"),
      R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"image_url","image_url":{"url":"https://x/y"}}]}])");
  EXPECT_EQ(
      one_message(
          R"([{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"more"}]}}])"),
      R"([{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}},{"type":"text","text":"words"},{"type":"text","text":"more"}]}])");
  EXPECT_EQ(
      one_message(
          R"([{"type":"search_result","source":"https://x","title":"T","content":[{"type":"text","text":"found"}],"citations":{"enabled":true}}])"),
      R"([{"role":"user","content":[{"type":"text","text":"T"},{"type":"text","text":"https://x"},{"type":"text","text":"found"}]}])");
}

TEST(MessagesRequest, keeps_unknown_blocks_as_text_or_names_them) {
  const Request request = read(
      R"("messages":[{"role":"user","content":[{"type":"poem","text":"roses"},{"type":"container_upload","file_id":"f"},{"type":"image","source":{"type":"file","file_id":"f"}}]}])");
  EXPECT_EQ(print_messages(request.messages), R"([{"role":"user","content":"roses"}])");
  EXPECT_THAT(native_names(request), ElementsAre("messages.0.content.1", "messages.0.content.2"));
}

TEST(MessagesRequest, makes_messages_of_results_and_puts_them_first) {
  EXPECT_EQ(
      one_message(
          R"([{"type":"text","text":"go on"},{"type":"tool_result","tool_use_id":"t1","content":"42"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":{"type":"url","url":"https://x"}}]},{"type":"tool_result","tool_use_id":"t3"}])"),
      R"([{"role":"tool","content":"42","tool_call_id":"t1"},{"role":"tool","content":[{"type":"text","text":"no"},{"type":"image_url","image_url":{"url":"https://x"}}],"tool_call_id":"t2","is_error":true},{"role":"tool","content":"","tool_call_id":"t3"},{"role":"user","content":"go on"}])");
}

TEST(MessagesRequest, reads_calls_and_reasoning_of_an_assistant) {
  EXPECT_EQ(
      one_message(
          R"([{"type":"thinking","thinking":"hm","signature":"EqQB"},{"type":"redacted_thinking","data":"EmwK"},{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"find","input":{"q": 1.50}}])",
          "assistant"),
      R"([{"role":"assistant","content":"a","tool_calls":[{"id":"t1","type":"function","function":{"name":"find","arguments":"{\"q\": 1.50}"}}],"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"EqQB","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":1}]}])");
  EXPECT_EQ(
      one_message(R"([{"type":"tool_use","id":"t1","name":"f"}])", "assistant"),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}])");
}

TEST(MessagesRequest, opens_what_it_sealed) {
  const auto sealed = [](std::string_view element) {
    return R"([{"type":"thinking","thinking":"hm","signature":")" + *seal_reasoning(element) +
           R"("},{"type":"tool_use","id":"c","name":"f","input":{}}])";
  };
  const std::string call =
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],)";
  EXPECT_EQ(one_message(sealed(R"({"type":"reasoning.encrypted","data":"g"})"), "assistant"),
            call + R"("reasoning_details":[{"type":"reasoning.encrypted","data":"g"}]}])");
  EXPECT_EQ(one_message(sealed(R"({"format":"callgate-list-v1","details":[{"a":1},{"b":2}]})"),
                        "assistant"),
            call + R"("reasoning_details":[{"a":1},{"b":2}]}])");
  EXPECT_EQ(one_message(sealed(R"({"format":"callgate-text-v1"})"), "assistant"),
            call + R"("reasoning_content":"hm"}])");
  EXPECT_EQ(
      one_message(
          R"([{"type":"redacted_thinking","data":")" +
              *seal_reasoning(
                  R"({"format":"callgate-call-v1","call":"c","fields":{"extra_content":{"s":1}}})") +
              R"("},{"type":"tool_use","id":"c","name":"f","input":{}}])",
          "assistant"),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"s":1}}]}])");
}

TEST(MessagesRequest, knows_where_its_messages_stand_unless_they_must_change) {
  const auto source_of = [](std::string_view content) {
    const Request request =
        read(R"("messages":[{"role":"assistant","content":)" + std::string(content) + "}]");
    const BodySpan source = request.messages.front().source;
    return request.body.text.substr(source.at, source.size);
  };
  EXPECT_EQ(source_of(R"([{"type":"text","text":"a","x":1}])"),
            R"({"role":"assistant","content":[{"type":"text","text":"a","x":1}]})");
  EXPECT_EQ(source_of(R"([{"type":"tool_use","id":"functions.f:0","name":"f","input":{}}])"), "");
  EXPECT_EQ(source_of(R"([{"type":"thinking","thinking":"hm","signature":")" +
                      *seal_reasoning("{}") + R"("}])"),
            "");
}

TEST(MessagesRequest, reads_tools) {
  const Request request = read(with_hi(
      R"("tools":[{"name":"find","description":"Finds","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"},"eager_input_streaming":true},{"type":"custom","name":"add","input_schema":{}},{"type":"web_search_20250305","name":"web_search"}])"));
  ASSERT_EQ(request.tools.size(), 2U);
  EXPECT_EQ(request.tools[0].name, "find");
  EXPECT_EQ(request.tools[0].description, "Finds");
  EXPECT_EQ(request.tools[0].parameters.text, R"({"type":"object"})");
  EXPECT_EQ(find_field(request.tools[0].extra, "strict"), "true");
  EXPECT_TRUE(request.tools[0].outer_extra.empty());
  EXPECT_THAT(native_names(request), ElementsAre("tools.2"));
}

TEST(MessagesRequest, declares_deferred_tools_when_they_are_found) {
  const std::string tools =
      R"("tools":[{"name":"search","input_schema":{}},{"name":"a","input_schema":{},"defer_loading":true},{"name":"b","input_schema":{},"defer_loading":true}])";
  const auto names = [](const Request& request) {
    std::vector<std::string> found;
    for (const ToolSpec& tool : request.tools) found.push_back(tool.name);
    return found;
  };
  EXPECT_THAT(names(read(with_hi(tools))), ElementsAre("search"));
  EXPECT_THAT(
      names(read(
          R"("messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"b"}]}]}],)" +
          tools)),
      ElementsAre("search", "b"));
  // The API would search; no other upstream can.
  EXPECT_THAT(
      names(read(with_hi(
          R"("tools":[{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"},{"name":"a","input_schema":{},"defer_loading":true}])"))),
      ElementsAre("a"));
}

TEST(MessagesRequest, reads_every_choice_of_tools) {
  using Mode = ToolChoice::Mode;
  const auto choice = [](std::string_view json) {
    return read(
        with_hi(R"("tools":[{"name":"f","input_schema":{}}],"tool_choice":)" + std::string(json)));
  };
  EXPECT_EQ(choice(R"({"type":"auto"})").tool_choice.mode, Mode::automatic);
  EXPECT_EQ(choice(R"({"type":"any"})").tool_choice.mode, Mode::required);
  EXPECT_EQ(choice(R"({"type":"none"})").tool_choice.mode, Mode::none);
  EXPECT_EQ(choice(R"({"type":"tool","name":"f"})").tool_choice.name, "f");
  EXPECT_EQ(choice(R"({"type":"auto","disable_parallel_tool_use":true})").parallel_tool_calls,
            false);
}

TEST(MessagesRequest, gives_other_fields_their_canonical_names) {
  const Request request = read(with_hi(
      R"("stop_sequences":["a"],"temperature":0.5,"top_p":1,"top_k":5,"metadata":{"user_id":"u"},"service_tier":"standard_only","output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}}},"stream":true)"));
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(find_field(request.extra, "stop"), R"(["a"])");
  EXPECT_EQ(find_field(request.extra, "temperature"), "0.5");
  EXPECT_EQ(find_field(request.extra, "top_k"), "5");
  EXPECT_EQ(find_field(request.extra, "user"), R"("u")");
  EXPECT_EQ(find_field(request.extra, "service_tier"), R"("default")");
  EXPECT_EQ(find_field(request.extra, "reasoning_effort"), R"("high")");
  EXPECT_EQ(find_field(request.extra, "response_format"),
            R"({"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}})");
  EXPECT_TRUE(request.native.empty());
}

TEST(MessagesRequest, keeps_what_only_the_api_knows_apart) {
  const Request request = read(with_hi(
      R"("thinking":{"type":"adaptive"},"context_management":{},"thread":{"type":"create"},"safeguards":{},"cache_control":{"type":"ephemeral"})"));
  EXPECT_TRUE(request.extra.size() == 1U);
  using Elsewhere = NativeField::Elsewhere;
  std::vector<std::pair<std::string, Elsewhere>> fields;
  for (const NativeField& field : request.native) fields.emplace_back(field.name, field.elsewhere);
  EXPECT_THAT(fields, ElementsAre(std::pair("thinking", Elsewhere::named),
                                  std::pair("context_management", Elsewhere::named),
                                  std::pair("thread", Elsewhere::unsaid),
                                  std::pair("safeguards", Elsewhere::refused),
                                  std::pair("cache_control", Elsewhere::unsaid)));
}

// It holds only what is new: elsewhere the rest of the conversation would be missing.
TEST(MessagesRequest, refuses_to_continue_a_thread_elsewhere) {
  const Request request =
      read(with_hi(R"("thread":{"type":"continue","previous_message_id":"msg_1"})"));
  ASSERT_EQ(request.native.size(), 1U);
  EXPECT_EQ(request.native.front().name, "thread");
  EXPECT_EQ(request.native.front().elsewhere, NativeField::Elsewhere::refused);
  EXPECT_THAT(kAnthropicMessages.error_body({.message = "x", .param = "thread"}),
              testing::HasSubstr(R"("details":{"error_code":"thread_not_found"})"));
}

TEST(MessagesRequest, takes_any_beta) {
  const auto header = [](const void*, std::string_view name) {
    return name == "anthropic-beta"      ? std::string_view("unheard-of-2099, b")
           : name == "anthropic-version" ? std::string_view("2026-10-21")
                                         : std::string_view();
  };
  const std::string body = body_with(kHi);
  const auto request = decode_messages({.body = body, .header = header});
  ASSERT_TRUE(request.has_value());
  EXPECT_THAT(native_names(*request), ElementsAre("anthropic-version", "anthropic-beta"));
}

TEST(MessagesRequest, needs_no_limit_of_tokens_to_count) {
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";
  EXPECT_TRUE(decode_messages({.body = body, .path = "/v1/messages/count_tokens"}).has_value());
  EXPECT_EQ(fault(body), "max_tokens: missing, expected a whole number of at least 1");
}

TEST(MessagesRequest, names_the_field_at_fault) {
  EXPECT_EQ(fault("{"), "the body is not valid JSON: expected a member name at byte 1");
  EXPECT_EQ(fault("[]"), "the body is an array, expected a JSON object");
  EXPECT_EQ(fault(R"({"max_tokens":1,"messages":[]})"),
            "messages: empty, expected at least one message");
  EXPECT_EQ(fault(R"({"max_tokens":1,"messages":[{"role":"user","content":"a"}]})"),
            "model: missing, expected the name of a model");
  EXPECT_EQ(fault(R"({"model":"m","max_tokens":1})"),
            "messages: missing, expected an array of messages");
  EXPECT_EQ(fault_in(R"("messages":{})"), "messages: an object, expected an array of messages");
  EXPECT_EQ(fault_in(R"("messages":[{"role":"tool","content":"a"}])"),
            R"(messages.0.role: "tool", expected user or assistant)");
  EXPECT_EQ(fault_in(R"("messages":[{"role":"user"}])"),
            "messages.0.content: missing, expected a string or an array of content blocks");
  EXPECT_EQ(fault_in(R"("messages":[{"role":"user","content":[{"text":"a"}]}])"),
            "messages.0.content.0.type: missing, expected a string");
  EXPECT_EQ(fault_in(R"("messages":[{"role":"user","content":[{"type":"text","text":1}]}])"),
            "messages.0.content.0.text: a number, expected a string");
  EXPECT_EQ(
      fault_in(
          R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":[]}]}])"),
      "messages.1.content.0.input: an array, expected an object");
  EXPECT_EQ(fault_in(R"("messages":[{"role":"user","content":[{"type":"tool_result"}]}])"),
            "messages.0.content.0.tool_use_id: missing, expected a string");
  EXPECT_EQ(
      fault_in(
          R"("messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png"}}]}])"),
      "messages.0.content.0.source.data: missing, expected a string");
  EXPECT_EQ(fault_in(with_hi(R"("tools":[{"name":"f"}])")),
            "tools.0.input_schema: missing, expected a JSON schema object");
  EXPECT_EQ(fault_in(with_hi(R"("tool_choice":{"type":"sometimes"})")),
            "tool_choice.type: another word, expected auto, any, tool or none");
  EXPECT_EQ(fault_in(with_hi(R"("temperature":2)")),
            "temperature: 2, expected a number from 0 to 1");
  EXPECT_EQ(fault_in(with_hi(R"("max_tokens":0)")),
            "max_tokens: 0, expected a whole number of at least 1");
  EXPECT_EQ(fault_in(with_hi(R"("tools":[{"name":"f","input_schema":{},"strict":7}])")),
            "tools.0.strict: a number, expected true or false");
  EXPECT_EQ(fault_in(with_hi(R"("tools":[{"name":"f","input_schema":{},"defer_loading":"x"}])")),
            "tools.0.defer_loading: a string, expected true or false");
  EXPECT_EQ(fault_in(with_hi(R"("tool_choice":{"type":"auto","disable_parallel_tool_use":1})")),
            "tool_choice.disable_parallel_tool_use: a number, expected true or false");
  EXPECT_EQ(fault_in(with_hi(R"("output_config":{"effort":7})")),
            "output_config.effort: a number, expected a string");
  EXPECT_EQ(fault_in(with_hi(R"("output_config":{"format":"x"})")),
            "output_config.format: a string, expected an object");
  EXPECT_EQ(fault_in(with_hi(R"("thinking":"on")")), "thinking: a string, expected an object");
  EXPECT_EQ(
      fault_in(
          R"("messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":"no"}]}])"),
      "messages.0.content.0.is_error: a string, expected true or false");
  EXPECT_EQ(
      fault_in(
          R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":1}]}])"),
      "messages.1.content.0.thinking: a number, expected a string");
  EXPECT_EQ(
      fault_in(
          R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"redacted_thinking"}]}])"),
      "messages.1.content.0.data: missing, expected a string");
  EXPECT_EQ(fault_in(with_hi(R"("stop_sequences":[1])")),
            "stop_sequences.0: a number, expected a string");
  EXPECT_EQ(fault_in(with_hi(R"("stream":"yes")")), "stream: a string, expected true or false");
}

}  // namespace
}  // namespace callgate::client::messages_request_test
