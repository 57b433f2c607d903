#include "upstream/ollama/ollama.h"

#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"
#include "upstream/fields_testing.h"
#include "upstream/ollama/ollama_decoder.h"
#include "upstream/request_testing.h"

namespace callgate::upstream::ollama_test {
namespace {

UpstreamRequest encoded(const Request& request, const EncodeOptions& options = {.stream = false}) {
  return encoded_by(kOllama, request, options);
}

constexpr std::string_view kStart =
    R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":false)";

TEST(OllamaEncode, says_whether_it_streams_and_sends_the_key_as_a_bearer_token) {
  const UpstreamRequest made = encoded(asked(), {.model = "qwen3:8b", .key = "k"});
  EXPECT_EQ(made.path, "/api/chat");
  EXPECT_EQ(header_of(made, "authorization"), "Bearer k");
  EXPECT_EQ(header_of(made, "accept"), "application/x-ndjson");
  EXPECT_EQ(made.body,
            R"({"model":"qwen3:8b","messages":[{"role":"user","content":"hi"}],"stream":true})");
  EXPECT_EQ(header_of(encoded(asked()), "authorization"), "");
}

TEST(OllamaEncode, gives_each_field_its_place_or_says_that_it_has_none) {
  struct Row {
    std::string_view name;
    std::string_view value;
    std::string_view written;  // after the messages
    std::string_view dropped;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"temperature", "0.50", R"(,"options":{"temperature":0.50})", ""},
           {"max_tokens", "5", R"(,"options":{"num_predict":5})", ""},
           {"repetition_penalty", "1.1", R"(,"options":{"repeat_penalty":1.1})", ""},
           {"stop", R"("END")", R"(,"options":{"stop":["END"]})", ""},
           {"stop", R"(["a","b"])", R"(,"options":{"stop":["a","b"]})", ""},
           {"stop", "null", "", ""},
           {"options", R"({"num_ctx":8192,"od\"d":[1]})",
            R"(,"options":{"num_ctx":8192,"od\"d":[1]})", ""},
           {"options", "7", "", "options!"},
           {"reasoning_effort", R"("none")", R"(,"think":false)", ""},
           {"reasoning_effort", R"("minimal")", R"(,"think":"low")", ""},
           {"reasoning_effort", R"("medium")", R"(,"think":"medium")", ""},
           {"reasoning_effort", R"("xhigh")", R"(,"think":"high")", ""},
           {"reasoning_effort", R"("huge")", "", "reasoning_effort!"},
           {"think", "true", R"(,"think":true)", ""},
           {"response_format", R"({"type":"text"})", "", ""},
           {"response_format", R"({"type":"json_object"})", R"(,"format":"json")", ""},
           {"response_format",
            R"({"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}})",
            R"(,"format":{"type":"object"})", ""},
           {"response_format", R"({"type":"grammar"})", "", "response_format!"},
           {"keep_alive", R"("10m")", R"(,"keep_alive":"10m")", ""},
           {"logprobs", "true", R"(,"logprobs":true)", ""},
           {"top_logprobs", "3", R"(,"top_logprobs":3)", ""},
           {"user", R"("u")", "", "user"},
           {"logit_bias", R"({"1":2})", "", "logit_bias!"},
           {"made_up", "1", "", "made_up!"},
       }) {
    SCOPED_TRACE(std::string(row.name) + " " + std::string(row.value));
    const UpstreamRequest made =
        encoded(asked({{std::string(row.name), {std::string(row.value)}}}));
    EXPECT_EQ(made.body, std::string(kStart) + std::string(row.written) + "}");
    EXPECT_EQ(print_dropped(made.dropped), row.dropped);
  }
}

TEST(OllamaEncode, lets_the_server_s_own_fields_win) {
  const UpstreamRequest made = encoded(asked({{"temperature", {"1"}},
                                              {"max_tokens", {"5"}},
                                              {"max_completion_tokens", {"6"}},
                                              {"options", {R"({"temperature":0.2})"}},
                                              {"reasoning_effort", {"\"low\""}},
                                              {"think", {"\"max\""}}}));
  EXPECT_EQ(made.body, std::string(kStart) +
                           R"(,"think":"max","options":{"temperature":0.2,"num_predict":6}})");
  EXPECT_EQ(print_dropped(made.dropped), "");
}

TEST(OllamaEncode, sends_tools_unless_none_shall_be_called) {
  using Mode = ToolChoice::Mode;
  Request request = asked();
  request.tools.push_back({.name = "find",
                           .description = "d",
                           .parameters = {R"({"properties":{"q":{"type":"string"}}})"},
                           .extra = {{"strict", {"true"}}}});
  request.tools.push_back({.name = "add"});
  const std::string tools =
      R"("tools":[{"type":"function","function":{"name":"find","description":"d","parameters":)"
      R"({"type":"object","properties":{"q":{"type":"string"}}}}},{"type":"function","function":)"
      R"({"name":"add","parameters":{"type":"object","properties":{}}}}])";
  for (const Mode mode : {Mode::unset, Mode::automatic, Mode::none, Mode::required, Mode::named}) {
    request.tool_choice = {.mode = mode, .name = "find"};
    const UpstreamRequest made = encoded(request);
    EXPECT_EQ(made.body.find(tools) != std::string::npos, mode != Mode::none);
    const bool forced = mode == Mode::required || mode == Mode::named;
    EXPECT_EQ(print_dropped(made.dropped), forced ? "tool_choice!" : "");
  }
}

std::string messages(std::vector<Message> list, std::string_view dropped = "") {
  Request request{.model = "m"};
  request.messages = std::move(list);
  const UpstreamRequest made = encoded(request);
  EXPECT_EQ(print_dropped(made.dropped), dropped);
  const std::size_t start = made.body.find("\"messages\":") + 11;
  return made.body.substr(start, made.body.rfind(",\"stream\"") - start);
}

TEST(OllamaEncode, sends_text_as_one_string_and_images_beside_it) {
  EXPECT_EQ(
      messages(
          {{.role = Role::developer, .content = {"\"Be brief.\""}},
           {.role = Role::user,
            .content = {R"([{"type":"text","text":"a"},{"type":"text","text":"b"},)"
                        R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},)"
                        R"({"type":"image_url","image_url":{"url":"https://host/x.png"}},)"
                        R"({"type":"input_audio","input_audio":{}}])"},
            .name = "ann"}},
          "messages[1].content[3]! messages[1].content[4]! messages[1].name"),
      R"([{"role":"system","content":"Be brief."},{"role":"user","content":"a\nb","images":["AA=="]}])");
}

TEST(OllamaEncode, sends_calls_with_objects_and_results_with_names) {
  Message calls{.role = Role::assistant, .content = {"null"}};
  calls.calls = {{.id = "c1", .name = "find", .arguments = R"({"n": 12345678901234567890})"},
                 {.id = "c2", .name = "add", .arguments = ""},
                 {.id = "functions.find:2", .name = "find", .arguments = "{\"q\":"}};
  calls.extra = {{"reasoning_content", {"\"Hm.\""}}};
  Message failed = result("c1", R"([{"type":"text","text":"no"}])");
  failed.extra = {{"is_error", {"true"}}};
  EXPECT_EQ(
      messages({calls, failed, result("c2", "null"), result("functions.find:2", "\"x\"")},
               "messages[1].is_error"),
      R"([{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[)"
      R"({"id":"c1","function":{"name":"find","arguments":{"n": 12345678901234567890}}},)"
      R"({"id":"c2","function":{"name":"add","arguments":{}}},)"
      R"({"id":"functions.find:2","function":{"name":"find","arguments":{"raw":"{\"q\":"}}}]},)"
      R"({"role":"tool","content":"no","tool_name":"find","tool_call_id":"c1"},)"
      R"({"role":"tool","content":"","tool_name":"add","tool_call_id":"c2"},)"
      R"({"role":"tool","content":"x","tool_name":"find","tool_call_id":"functions.find:2"}])");
}

// The names and texts of results, in the order in which they are sent.
std::string order_of(std::vector<CallRecord> calls, std::vector<Message> results) {
  std::vector<Message> list = {{.role = Role::assistant, .calls = std::move(calls)}};
  for (Message& each : results) list.push_back(std::move(each));
  const std::string sent = messages(std::move(list));
  std::string order;
  constexpr std::string_view kRole = R"({"role":"tool","content":")";
  for (std::size_t at = sent.find(kRole); at != std::string::npos; at = sent.find(kRole, at + 1)) {
    const std::string_view rest = std::string_view(sent).substr(at + kRole.size());
    const std::size_t name = rest.find("\"tool_name\":\"");
    order += (order.empty() ? "" : " ") + std::string(rest.substr(0, rest.find('"'))) + "=";
    const bool named = name < rest.find('}');
    if (named) order += rest.substr(name + 13, rest.find('"', name + 13) - name - 13);
  }
  return order;
}

TEST(OllamaEncode, puts_results_into_the_order_of_their_calls) {
  const std::vector<CallRecord> ids = {{.id = "a", .name = "f"}, {.id = "b", .name = "g"}};
  EXPECT_EQ(order_of(ids, {result("b", "\"2\""), result("a", "\"1\"")}), "1=f 2=g");
  EXPECT_EQ(order_of(ids, {result("", "\"2\""), result("a", "\"1\"")}), "1=f 2=g");
  EXPECT_EQ(order_of(ids, {result("z", "\"3\""), result("a", "\"1\"")}), "1=f 3=");
  EXPECT_EQ(order_of({{.name = "f"}, {.name = "g"}}, {result("", "\"1\""), result("", "\"2\"")}),
            "1=f 2=g");
  EXPECT_EQ(order_of({{.id = "a", .name = "f"}, {.id = "a", .name = "g"}},
                     {result("a", "\"1\""), result("a", "\"2\""), result("a", "\"3\"")}),
            "1=f 2=g 3=g");
}

TEST(OllamaEncode, leaves_the_thinking_of_other_models_out) {
  Message sealed{.role = Role::assistant, .content = {"\"Hi\""}};
  sealed.extra = {{"reasoning_content", {"\"Hm.\""}}, {"reasoning_details", {"[]"}}};
  EXPECT_EQ(messages({sealed}), R"([{"role":"assistant","content":"Hi"}])");
  Message refused{.role = Role::assistant, .content = {"null"}};
  refused.extra = {{"refusal", {"\"No.\""}}};
  EXPECT_EQ(messages({refused}), R"([{"role":"assistant","content":"No."}])");
}

TEST(OllamaErrors, keep_status_and_words) {
  struct Row {
    int status;
    std::string_view body;
    ErrorCode code;
    std::string_view message;
  };
  for (const Row& row : std::initializer_list<Row>{
           {404, R"({"error":"model 'x' not found"})", ErrorCode::not_found, "model 'x' not found"},
           {400, R"({"error":"\"x\" does not support tools"})", ErrorCode::invalid_request,
            "\"x\" does not support tools"},
           {503, R"({"error":"server busy, please try again."})", ErrorCode::unavailable,
            "server busy, please try again."},
           {401, R"({"error":"unauthorized","signin_url":"https://host/"})",
            ErrorCode::upstream_failed, "the upstream refused callgate's key"},
           {500, "", ErrorCode::upstream_failed,
            "upstream answered with status 500 and no explanation"}}) {
    const Error error = kOllama.decode_error(row.status, row.body);
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ(error.status, row.status);
  }
}

TEST(OllamaDecoder, reads_a_body_that_spans_lines_and_one_that_is_cut) {
  constexpr std::string_view kBody =
      "{\n \"message\": {\"content\": \"Hi\"},\n \"done\": true,\n \"eval_count\": 2\n}\n";
  for (std::size_t size = 0; size <= kBody.size(); ++size) {
    OllamaDecoder decoder;
    LoggedChoice sinks;
    decoder.push_body(kBody.substr(0, size), sinks);
    const bool whole = size >= kBody.size() - 1;
    EXPECT_TRUE(decoder.finished());
    EXPECT_EQ(decoder.complete(), whole);
    EXPECT_EQ(decoder.error().has_value(), !whole);
    EXPECT_EQ(sinks.log().text(), whole ? "Hi" : "") << size;
  }
}

TEST(OllamaDecoder, reads_no_other_member_of_a_token_as_its_alternatives) {
  OllamaDecoder decoder;
  LoggedChoice sinks;
  decoder.push(
      {.data = R"({"message":{"content":"Hi"},"logprobs":[{"token":"Hi","logprob":-0.1,)"
               R"("others":[{"token":"Yo","logprob":-2}],"bytes":null,)"
               R"("top_logprobs":[{"token":"Ho","logprob":-1,"top_logprobs":[{"token":"x"}]}],)"
               R"("after":[{"token":"No"}]}]})"},
      sinks);
  const std::string events = print(sinks.log().events());
  EXPECT_NE(events.find(R"({"content":[{"token":"Hi","logprob":-0.1,"bytes":null,"top_logprobs":)"
                        R"([{"token":"Ho","logprob":-1,"bytes":null}]}],"refusal":null})"),
            std::string::npos)
      << events;
}

TEST(OllamaDecoder, aborts_after_a_call_that_was_whole) {
  OllamaDecoder decoder;
  LoggedChoice sinks;
  decoder.push({.data = R"({"message":{"tool_calls":[{"function":{"name":"f"}}]}})"}, sinks);
  EXPECT_FALSE(decoder.complete());
  decoder.abort(sinks);
  EXPECT_EQ(print(sinks.log().events()),
            "call 0 f\nargs 0 {}\nend 0 complete\nfinish upstream_error\n");
}

TEST(OllamaFields, are_those_of_the_documentation) { expect_fields(kOllama, ollama_fields()); }

}  // namespace
}  // namespace callgate::upstream::ollama_test
