#include "client/ollama/ollama.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "chat/content.h"
#include "chat/message_json.h"

namespace callgate::client::ollama_test {
namespace {

using testing::HasSubstr;

Result<Request> read_chat(std::string_view body) {
  return decode_ollama({.body = body, .path = "/api/chat"});
}
Result<Request> read_generate(std::string_view body) {
  return decode_ollama({.body = body, .path = "/api/generate"});
}

std::string messages_of(std::string_view messages) {
  const auto request = read_chat(R"({"model":"m","messages":)" + std::string(messages) + "}");
  return request ? print_messages(request->messages) : request.error().message;
}

std::string extra_of(std::string_view members) {
  const auto request = read_chat(R"({"model":"m","messages":[{"role":"user","content":"hi"}],)" +
                                 std::string(members) + "}");
  if (!request) return request.error().message;
  std::string out;
  for (const ExtraField& field : request->extra) out += field.name + "=" + field.value.text + ";";
  return out;
}

TEST(OllamaRequest, streams_unless_it_says_otherwise) {
  EXPECT_TRUE(read_chat(R"({"model":"m","messages":[{"role":"user","content":"hi"}]})")->stream);
  EXPECT_FALSE(
      read_chat(R"({"model":"m","stream":false,"messages":[{"role":"user","content":"hi"}]})")
          ->stream);
}

TEST(OllamaRequest, says_where_it_came_from) {
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"new":1})";
  const auto request = read_chat(body);
  EXPECT_EQ(request->origin, "ollama");
  EXPECT_EQ(request->body.text, body);
  EXPECT_EQ(request->form, "");
  EXPECT_TRUE(request->include_usage);
}

TEST(OllamaRequest, has_messages) {
  struct Case {
    const char* name;
    const char* given;
    const char* expected;
  };
  const Case cases[] = {
      {"text", R"([{"role":"user","content":"hi"}])", R"([{"role":"user","content":"hi"}])"},
      {"system", R"([{"role":"system","content":"a"},{"role":"user","content":"b"}])",
       R"([{"role":"system","content":"a"},{"role":"user","content":"b"}])"},
      {"png", R"([{"role":"user","content":"x","images":["iVBORw0KGgoAA"]}])",
       R"([{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAA"}}]}])"},
      {"jpeg_alone", R"([{"role":"user","images":["/9j/4AA"]}])",
       R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9j/4AA"}}]}])"},
      {"image_with_its_type",
       R"([{"role":"user","content":"","images":["data:image/gif;base64,R0lGOD"]}])",
       R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGOD"}}]}])"},
      {"thinking", R"([{"role":"assistant","content":"b","thinking":"a"}])",
       R"([{"role":"assistant","content":"b","reasoning_content":"a"}])"},
      {"calls_without_ids",
       R"([{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"q": 1}}}]},{"role":"tool","tool_name":"f","content":"r"}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"call_000000000000000000000000","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}}]},{"role":"tool","content":"r","name":"f","tool_call_id":"call_000000000000000000000000"}])"},
      {"calls_with_ids",
       R"([{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"index":0,"name":"f","arguments":{}}}]},{"role":"tool","tool_call_id":"x","content":"r"}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"r","tool_call_id":"x"}])"},
      {"arguments_as_text",
       R"([{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}]}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}])"},
      {"two_results_by_name",
       R"([{"role":"assistant","tool_calls":[{"function":{"name":"f"}},{"function":{"name":"g"}}]},{"role":"tool","tool_name":"g","content":"2"},{"role":"tool","tool_name":"f","content":"1"}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"call_000000000000000000000000","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_000000000000000000000001","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","content":"2","name":"g","tool_call_id":"call_000000000000000000000001"},{"role":"tool","content":"1","name":"f","tool_call_id":"call_000000000000000000000000"}])"},
      {"result_without_a_name",
       R"([{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]},{"role":"tool","content":"1"}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"call_000000000000000000000000","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"1","tool_call_id":"call_000000000000000000000000"}])"},
      {"sealed_reasoning_comes_back",
       R"([{"role":"assistant","content":"a","reasoning_details":[{"format":"x"}]}])",
       R"([{"role":"assistant","content":"a","reasoning_details":[{"format":"x"}]}])"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(messages_of(each.given), each.expected);
  }
}

TEST(OllamaRequest, has_options) {
  EXPECT_EQ(extra_of(R"("options":{"temperature":0.5,"num_predict":9,"stop":["a"],"seed":1})"),
            R"(temperature=0.5;max_tokens=9;stop=["a"];seed=1;)");
  EXPECT_EQ(extra_of(R"("options":{"num_predict":-1,"num_ctx":4096,"mirostat": 1})"),
            R"(options={"num_ctx":4096,"mirostat":1};)");
  EXPECT_EQ(extra_of(R"("format":"json")"), R"(response_format={"type":"json_object"};)");
  EXPECT_EQ(
      extra_of(R"("format":{"type":"object"})"),
      R"(response_format={"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}};)");
  EXPECT_EQ(extra_of(R"("think":true)"), R"(reasoning_effort="medium";)");
  EXPECT_EQ(extra_of(R"("think":false)"), R"(reasoning_effort="none";)");
  EXPECT_EQ(extra_of(R"("think":"high")"), R"(reasoning_effort="high";)");
  EXPECT_EQ(extra_of(R"("keep_alive":"5m","new":{"a":1})"), R"(keep_alive="5m";new={"a":1};)");
  EXPECT_EQ(extra_of(R"("format":"","options":null,"think":null)"), "");
}

TEST(OllamaRequest, of_generate_is_one_message) {
  const auto request = read_generate(
      R"({"model":"m","system":"s","prompt":"p","images":["iVBORw0KGgo"],"stream":false,"raw":true})");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(
      print_messages(request->messages),
      R"([{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"p"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo"}}]}])");
  EXPECT_EQ(request->form, kOllamaGenerate);
  EXPECT_EQ(find_field(request->extra, "raw"), "true");
  // From a log, without its path.
  EXPECT_EQ(decode_ollama({.body = R"({"model":"m","prompt":"p"})"})->form, kOllamaGenerate);
}

TEST(OllamaRequest, names_the_field_that_is_wrong) {
  struct Case {
    const char* body;
    const char* param;
    const char* message;
  };
  const Case cases[] = {
      {R"({"messages":[]})", "model", "model: missing, expected the name of a model"},
      {R"({"model":7,"messages":[]})", "model", "model: a number, expected a string"},
      {R"({"model":"m"})", "messages", "messages: missing, expected an array of messages"},
      {R"({"model":"m","options":{"stop":[{}]}})", "options.stop[0]",
       "options.stop[0]: an object, expected a string"},
      {R"({"model":"m","messages":{}})", "messages",
       "messages: an object, expected an array of messages"},
      {R"({"model":"m","messages":[]})", "messages",
       "messages: empty, expected at least one message"},
      {R"({"model":"m","messages":["x"]})", "messages[0]",
       "messages[0]: a string, expected an object"},
      {R"({"model":"m","messages":[{"content":"x"}]})", "messages[0].role",
       "messages[0].role: missing, expected system|user|assistant|tool"},
      {R"({"model":"m","messages":[{"role":"robot","content":"x"}]})", "messages[0].role",
       "messages[0].role: \"robot\", expected system|user|assistant|tool"},
      {R"({"model":"m","messages":[{"role":"user","content":[]}]})", "messages[0].content",
       "messages[0].content: an array, expected a string"},
      {R"({"model":"m","messages":[{"role":"user","images":"x"}]})", "messages[0].images",
       "messages[0].images: a string, expected an array of images in base64"},
      {R"({"model":"m","messages":[{"role":"user","images":["a",{}]}]})", "messages[0].images[1]",
       "messages[0].images[1]: an object, expected an image in base64"},
      {R"({"model":"m","messages":[{"role":"user","images":["http://x/a.png?"]}]})",
       "messages[0].images[0]", "messages[0].images[0]: another text, expected an image in base64"},
      {R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":{}}}]}]})",
       "messages[0].tool_calls[0].function.name",
       "messages[0].tool_calls[0].function.name: missing, expected a name"},
      {R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":[1]}}]}]})",
       "messages[0].tool_calls[0].function.arguments",
       "messages[0].tool_calls[0].function.arguments: an array, expected an object"},
      {R"({"model":"m","messages":[{"role":"user","content":"x","tool_calls":[{"function":{"name":"f"}}]}]})",
       "messages[0].tool_calls",
       "messages[0].tool_calls: given, expected them only in an assistant message"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]})",
       "tools[0].function", "tools[0].function: missing, expected an object"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}],"options":{"temperature":"hot"}})",
       "options.temperature", "options.temperature: a string, expected a number"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}],"options":[]})", "options",
       "options: an array, expected an object"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}],"format":"yaml"})", "format",
       "format: another word, expected \"json\" or a JSON schema"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}],"think":3})", "think",
       "think: a number, expected true, false, or low|medium|high"},
      {R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":"no"})", "stream",
       "stream: a string, expected true or false"},
      {R"([])", "", "the body is an array, expected a JSON object"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.body);
    const auto request = read_chat(each.body);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().param, each.param);
    EXPECT_EQ(request.error().message, each.message);
    EXPECT_EQ(kOllama.status_of(request.error()), 400);
  }
  EXPECT_EQ(read_generate(R"({"model":"m"})").error().message, "prompt: empty, expected a prompt");
  EXPECT_THAT(read_chat("{").error().message, HasSubstr("the body is not valid JSON"));
}

TEST(OllamaRequest, reads_long_conversations_and_large_images) {
  std::string body = R"({"model":"m","messages":[)";
  for (int i = 0; i < 10'000; ++i) {
    body +=
        R"({"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},)"
        R"({"role":"tool","tool_name":"f","content":"x"},)";
  }
  body += R"({"role":"user","content":"x","images":["iVBORw0KGgo)" +
          std::string(std::size_t{20} << 20, 'A') + R"("]}]})";
  const auto request = read_chat(body);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->messages.size(), 20'001U);
  EXPECT_EQ(request->messages[19'999].tool_call_id, request->messages[19'998].calls[0].id);
}

class OllamaAnswer : public testing::Test {
 protected:
  void begin(bool stream, std::string_view form = {}) {
    request_.stream = stream;
    request_.form = form;
    encoder_ = make_ollama_encoder(request_, {.id = "x", .model = "m", .created = 0});
    out_.clear();
    encoder_->bind(out_);
  }
  void say(const Event& event) { encoder_->choice(0).accept(event); }

  Request request_;
  std::unique_ptr<ResponseEncoder> encoder_;
  std::string out_;
};

constexpr std::string_view kHead = R"({"model":"m","created_at":"1970-01-01T00:00:00Z",)";

std::string line(std::string_view rest) { return std::string(kHead) + std::string(rest) + "\n"; }

TEST_F(OllamaAnswer, is_a_line_per_delta) {
  begin(true);
  say(ReasoningDelta{"hm"});
  say(TextDelta{"a\"b\n"});
  say(UsageReported{{.prompt_tokens = 3, .completion_tokens = 4, .total_tokens = 7}});
  say(TurnFinished{FinishReason::stop});
  encoder_->finish({});
  EXPECT_EQ(
      out_,
      line(R"("message":{"role":"assistant","content":"","thinking":"hm"},"done":false})") +
          line(R"("message":{"role":"assistant","content":"a\"b\n"},"done":false})") +
          line(
              R"("message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4})"));
}

TEST_F(OllamaAnswer, writes_a_call_when_it_is_complete) {
  begin(true);
  say(CallStarted{0, "find", "id1"});
  say(ArgumentsDelta{0, "{\"q\":"});
  EXPECT_EQ(out_, "");
  say(ArgumentsDelta{0, "1}"});
  say(CallFinished{0});
  EXPECT_EQ(
      out_,
      line(
          R"("message":{"role":"assistant","content":"","tool_calls":[{"id":"id1","function":{"index":0,"name":"find","arguments":{"q":1}}}]},"done":false})"));
}

TEST_F(OllamaAnswer, keeps_every_line_one_line) {
  begin(true);
  say(CallStarted{0, "f", "i"});
  say(ArgumentsDelta{0, "{\n \"q\":\r\n1}"});
  say(CallFinished{0});
  say(FieldReported{FieldReported::Scope::turn, "a", "{\n}"});
  say(FieldReported{FieldReported::Scope::message, "b", "[\n]"});
  say(TurnFinished{FinishReason::tool_calls});
  encoder_->finish({});
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 3);
}

TEST_F(OllamaAnswer, wraps_arguments_that_are_not_an_object) {
  begin(false);
  say(CallStarted{0, "f", "i"});
  say(ArgumentsDelta{0, "{\"q\":"});
  say(CallFinished{0, CallOutcome::truncated});
  say(CallStarted{1, "g", "j"});
  say(CallFinished{1});
  say(TurnFinished{FinishReason::length});
  encoder_->finish({});
  EXPECT_EQ(
      out_,
      std::string(kHead) +
          R"("message":{"role":"assistant","content":"","tool_calls":[{"id":"i","function":{"index":0,"name":"f","arguments":{"raw":"{\"q\":"}}},{"id":"j","function":{"index":1,"name":"g","arguments":{}}}]},"done":true,"done_reason":"length"})");
}

TEST_F(OllamaAnswer, of_generate_has_a_response) {
  begin(true, kOllamaGenerate);
  say(ReasoningDelta{"hm"});
  say(TextDelta{"a"});
  say(TurnFinished{FinishReason::stop});
  encoder_->finish({});
  EXPECT_EQ(out_, line(R"("response":"","thinking":"hm","done":false})") +
                      line(R"("response":"a","done":false})") +
                      line(R"("response":"","done":true,"done_reason":"stop"})"));
  begin(false, kOllamaGenerate);
  say(TextDelta{"a"});
  say(TurnFinished{FinishReason::stop});
  encoder_->finish({});
  EXPECT_EQ(out_, std::string(kHead) + R"("response":"a","done":true,"done_reason":"stop"})");
}

TEST_F(OllamaAnswer, says_how_the_turn_ended) {
  const std::pair<FinishReason, const char*> words[] = {
      {FinishReason::stop, "stop"},
      {FinishReason::tool_calls, "stop"},
      {FinishReason::length, "length"},
      {FinishReason::content_filter, "content_filter"}};
  for (const auto& [reason, word] : words) {
    begin(true);
    say(TurnFinished{reason});
    encoder_->finish({});
    EXPECT_THAT(out_, HasSubstr(R"("done_reason":")" + std::string(word) + "\""));
  }
}

TEST_F(OllamaAnswer, fails_with_a_line) {
  begin(true);
  say(TextDelta{"a"});
  out_.clear();
  encoder_->fail({.code = ErrorCode::upstream_failed, .message = "gone \"away\""});
  EXPECT_EQ(out_, "{\"error\":\"gone \\\"away\\\"\"}\n");
}

TEST_F(OllamaAnswer, has_room_for_news_and_fields) {
  begin(true);
  encoder_->note("callgate", R"({"tool":"x"})");
  say(FieldReported{FieldReported::Scope::choice, "logprobs",
                    R"({"content":[{"token":"a","logprob":-1}],"refusal":null})"});
  say(TextDelta{"a"});
  say(FieldReported{FieldReported::Scope::turn, "load_duration", "5"});
  say(TurnFinished{FinishReason::stop});
  AnswerEnd end;
  end.timing = {.first_token_ms = 2, .duration_ms = 5};
  end.counters = "{}";
  encoder_->finish(end);
  EXPECT_EQ(
      out_,
      line(R"("message":{"role":"assistant","content":""},"callgate":{"tool":"x"},"done":false})") +
          line(
              R"("message":{"role":"assistant","content":"a"},"logprobs":[{"token":"a","logprob":-1}],"done":false})") +
          line(
              R"("message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5000000,"prompt_eval_duration":2000000,"eval_duration":3000000,"load_duration":5})"));
}

TEST_F(OllamaAnswer, counts_what_was_estimated) {
  begin(false);
  say(TurnFinished{FinishReason::stop});
  AnswerEnd end;
  end.estimate = Usage{.prompt_tokens = 1, .completion_tokens = 2, .total_tokens = 3};
  encoder_->finish(end);
  EXPECT_THAT(out_, HasSubstr(R"("prompt_eval_count":1,"eval_count":2,"estimated":true)"));
}

TEST(Ollama, shows_models_as_editors_want_them) {
  const std::array<ModelEntry, 2> models = {{{"a", "up", 0}, {"b", "up", 0}}};
  EXPECT_THAT(
      kOllama.print_models(models),
      HasSubstr(R"({"models":[{"name":"a","model":"a","modified_at":"1970-01-01T00:00:00Z")"));
  EXPECT_EQ(kOllama.print_models({}), R"({"models":[]})");
  const std::string shown = kOllama.print_model(models[0]);
  EXPECT_THAT(shown, HasSubstr(R"("capabilities":["completion","tools","vision"])"));
  EXPECT_THAT(shown, HasSubstr(R"("general.architecture":"callgate")"));
  EXPECT_THAT(shown, HasSubstr(R"("callgate.context_length":131072)"));
  EXPECT_EQ(*kOllama.named_model({.body = R"({"model":"a"})"}), "a");
  EXPECT_EQ(*kOllama.named_model({.body = R"({"name":"a"})"}), "a");
  EXPECT_EQ(kOllama.named_model({.body = "{}"}).error().param, "model");
}

}  // namespace
}  // namespace callgate::client::ollama_test
