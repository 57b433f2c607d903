#include "client/gemini/gemini.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "chat/content.h"
#include "chat/message_json.h"
#include "chat/sealed_reasoning.h"

namespace callgate::client::gemini_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kWholePath = "/v1beta/models/m:generateContent";

Result<Request> read_gemini(std::string_view body, std::string_view path = kWholePath,
                            std::string_view query = {}) {
  return decode_gemini({.body = body, .path = path, .query = query});
}

std::string contents_of(std::string_view contents) {
  const auto request = read_gemini(R"({"contents":)" + std::string(contents) + "}");
  return request ? print_messages(request->messages) : request.error().message;
}

std::string with_members(std::string_view members) {
  return R"({"contents":[{"parts":[{"text":"hi"}]}],)" + std::string(members) + "}";
}

std::string extras_of(std::string_view members) {
  const auto request = read_gemini(with_members(members));
  if (!request) return request.error().message;
  std::string out;
  for (const ExtraField& field : request->extra) out += field.name + "=" + field.value.text + ";";
  return out;
}

TEST(GeminiRequest, has_its_model_and_its_form_in_the_path) {
  const std::string body = with_members("\"new\":1");
  const auto whole = read_gemini(body);
  EXPECT_EQ(whole->model, "m");
  EXPECT_FALSE(whole->stream);
  EXPECT_EQ(whole->origin, "gemini");
  EXPECT_EQ(whole->body.text, body);
  const auto events =
      read_gemini(body, "/v1beta/models/a%2Fb:c:streamGenerateContent", "alt=sse&key=k");
  EXPECT_EQ(events->model, "a/b:c");
  EXPECT_TRUE(events->stream);
  EXPECT_TRUE(events->include_usage);
  EXPECT_EQ(events->form, "");
  EXPECT_EQ(kGemini.type_of(*events), "text/event-stream");
  const auto array = read_gemini(body, "/v1beta/models/m:streamGenerateContent");
  EXPECT_EQ(array->form, kGeminiArray);
  EXPECT_EQ(kGemini.type_of(*array), "application/json; charset=utf-8");
  // From a log, without its path.
  EXPECT_EQ(decode_gemini({.body = body})->model, "");
  EXPECT_EQ(read_gemini(body, "/v1beta/models/:generateContent").error().param, "model");
}

TEST(GeminiRequest, counts_what_a_turn_would_send) {
  const auto request = read_gemini(
      R"({"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"hi"}]}]}})",
      "/v1beta/models/m:countTokens");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->messages.size(), 1U);
  EXPECT_EQ(kGemini.print_token_count(7), R"({"totalTokens":7})");
}

TEST(GeminiRequest, has_contents) {
  struct Case {
    const char* name;
    const char* given;
    const char* expected;
  };
  const Case cases[] = {
      {"text", R"([{"role":"user","parts":[{"text":"hi"}]}])",
       R"([{"role":"user","content":"hi"}])"},
      {"no_role_and_one_part", R"([{"parts":{"text":"hi"}}])",
       R"([{"role":"user","content":"hi"}])"},
      {"two_texts", R"([{"parts":[{"text":"a"},{"text":"b"}]}])",
       R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])"},
      {"image", R"([{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}])",
       R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}])"},
      {"snake_case", R"([{"parts":[{"inline_data":{"mime_type":"image/png","data":"AA=="}}]}])",
       R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}])"},
      {"sound", R"([{"parts":[{"inlineData":{"mimeType":"audio/wav","data":"AA=="}}]}])",
       R"([{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]}])"},
      {"document", R"([{"parts":[{"inlineData":{"mimeType":"application/pdf","data":"AA=="}}]}])",
       R"([{"role":"user","content":[{"type":"file","file":{"filename":"file","file_data":"data:application/pdf;base64,AA=="}}]}])"},
      {"image_elsewhere",
       R"([{"parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://x/a"}}]}])",
       R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/a"}}]}])"},
      {"file_elsewhere",
       R"([{"parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://x/a"}}]}])",
       R"([{"role":"user","content":[{"type":"fileData","fileData":{"mimeType":"video/mp4","fileUri":"gs://x/a"}}]}])"},
      {"the_models_text_in_pieces",
       R"([{"role":"model","parts":[{"text":"a"},{"text":"b"}]},{"role":"model","parts":[{"text":"c"}]}])",
       R"([{"role":"assistant","content":"abc"}])"},
      {"thoughts", R"([{"role":"model","parts":[{"text":"hm","thought":true},{"text":"a"}]}])",
       R"([{"role":"assistant","content":"a","reasoning_content":"hm"}])"},
      {"call_and_result_without_ids",
       R"([{"role":"model","parts":[{"functionCall":{"name":"f","args":{"q": 1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"call_000000000000000000000000","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}}]},{"role":"tool","content":"r","name":"f","tool_call_id":"call_000000000000000000000000"}])"},
      {"call_and_result_with_ids",
       R"([{"role":"model","parts":[{"functionCall":{"id":"x","name":"f"}}]},{"role":"function","parts":[{"functionResponse":{"id":"x","name":"f","response":{"a":[1]}}}]}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"{\"a\":[1]}","name":"f","tool_call_id":"x"}])"},
      {"result_that_failed",
       R"([{"parts":[{"functionResponse":{"id":"x","name":"f","response":{"error":"no"}}}]}])",
       R"([{"role":"tool","content":"no","name":"f","tool_call_id":"x","is_error":true}])"},
      {"result_beside_text",
       R"([{"parts":[{"text":"and"},{"functionResponse":{"id":"x","name":"f","response":{"result":7}}}]}])",
       R"([{"role":"tool","content":"7","name":"f","tool_call_id":"x"},{"role":"user","content":"and"}])"},
      {"signature_of_a_call",
       R"([{"role":"model","parts":[{"functionCall":{"id":"x","name":"f"},"thoughtSignature":"S"}]}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}],"reasoning_details":[{"type":"reasoning.encrypted","data":"S","format":"google-gemini-v1","id":"x","index":0}]}])"},
      {"signature_of_text", R"([{"role":"model","parts":[{"text":"a","thoughtSignature":"S"}]}])",
       R"([{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"S","format":"google-gemini-v1","id":"text"}]}])"},
      {"signature_alone",
       R"([{"role":"model","parts":[{"text":"a"},{"text":"","thoughtSignature":"S"}]}])",
       R"([{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"S","format":"google-gemini-v1","id":"end"}]}])"},
      {"signature_that_is_none",
       R"([{"role":"model","parts":[{"functionCall":{"id":"x","name":"f"},"thoughtSignature":"skip_thought_signature_validator"}]}])",
       R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}])"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(contents_of(each.given), each.expected);
  }
}

TEST(GeminiRequest, gives_other_issuers_their_reasoning_back) {
  const std::string detail = R"({"type":"reasoning.encrypted","data":"E","format":"other-v1"})";
  EXPECT_EQ(
      contents_of(
          R"([{"role":"model","parts":[{"functionCall":{"id":"x","name":"f"},"thoughtSignature":")" +
          *seal_reasoning(detail) + R"("}]}])"),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}],"reasoning_details":[)" +
          detail + "]}]");
}

TEST(GeminiRequest, has_a_system_instruction) {
  const auto request = read_gemini(with_members(R"("systemInstruction":{"parts":[{"text":"s"}]})"));
  EXPECT_EQ(print_messages(request->messages),
            R"([{"role":"system","content":"s"},{"role":"user","content":"hi"}])");
  const auto snake = read_gemini(with_members(R"("system_instruction":{"parts":{"text":"s"}})"));
  EXPECT_EQ(snake->messages.front().role, Role::system);
}

TEST(GeminiRequest, has_tools) {
  const auto request = read_gemini(with_members(
      R"("tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING","enum":["A"]}}}},
      {"name":"g","parametersJsonSchema":{"type":"object"}},{"name":"h"}]},{"googleSearch":{}}])"));
  ASSERT_TRUE(request.has_value()) << request.error().message;
  ASSERT_EQ(request->tools.size(), 3U);
  EXPECT_EQ(request->tools[0].parameters.text,
            R"({"type":"object","properties":{"type":{"type":"string","enum":["A"]}}})");
  EXPECT_EQ(request->tools[1].parameters.text, R"({"type":"object"})");
  EXPECT_EQ(request->tools[2].parameters.text, "");
  ASSERT_EQ(request->other_tools.size(), 1U);
  EXPECT_EQ(request->other_tools[0].text, R"({"type":"googleSearch","googleSearch":{}})");
}

TEST(GeminiRequest, chooses_tools) {
  using Mode = ToolChoice::Mode;
  const auto choice = [](std::string_view config) {
    return read_gemini(with_members(
        R"("tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"},{"name":"h"}]}],"toolConfig":{"functionCallingConfig":)" +
        std::string(config) + "}"));
  };
  EXPECT_EQ(choice(R"({"mode":"AUTO"})")->tool_choice.mode, Mode::automatic);
  EXPECT_EQ(choice(R"({"mode":"NONE"})")->tool_choice.mode, Mode::none);
  EXPECT_EQ(choice(R"({"mode":"ANY"})")->tool_choice.mode, Mode::required);
  EXPECT_EQ(choice(R"({"mode":"VALIDATED"})")->tool_choice.mode, Mode::automatic);
  EXPECT_EQ(choice("{}")->tool_choice.mode, Mode::unset);
  const auto named = choice(R"({"mode":"ANY","allowedFunctionNames":["g"]})");
  EXPECT_EQ(named->tool_choice.mode, Mode::named);
  EXPECT_EQ(named->tool_choice.name, "g");
  EXPECT_EQ(find_field(named->extra, "toolConfig"), "");
  const auto some = choice(R"({"mode":"ANY","allowedFunctionNames":["g","h"]})");
  EXPECT_EQ(some->tool_choice.mode, Mode::required);
  EXPECT_EQ(some->tools.size(), 2U);
  EXPECT_NE(find_field(some->extra, "toolConfig"), "");
}

TEST(GeminiRequest, has_settings) {
  EXPECT_EQ(
      extras_of(
          R"("generationConfig":{"temperature":0.5,"topP":0.9,"topK":4,"seed":1,"maxOutputTokens":9,"stopSequences":["a"],"presencePenalty":1,"frequencyPenalty":1})"),
      R"(temperature=0.5;top_p=0.9;top_k=4;seed=1;max_tokens=9;stop=["a"];presence_penalty=1;frequency_penalty=1;)");
  EXPECT_EQ(extras_of(R"("generation_config":{"max_output_tokens":9})"), "max_tokens=9;");
  EXPECT_EQ(extras_of(R"("generationConfig":{"responseMimeType":"application/json"})"),
            R"(response_format={"type":"json_object"};)");
  EXPECT_EQ(
      extras_of(
          R"("generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT"}})"),
      R"(response_format={"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}};)");
  EXPECT_EQ(extras_of(R"("generationConfig":{"thinkingConfig":{"thinkingBudget":0}})"),
            R"(reasoning_effort="none";)");
  EXPECT_EQ(extras_of(R"("generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}})"),
            R"(reasoning_effort="high";)");
  EXPECT_EQ(extras_of(R"("generationConfig":{"responseLogprobs":true,"logprobs":3})"),
            "logprobs=true;top_logprobs=3;");
  EXPECT_EQ(extras_of(R"("generationConfig":{"speechConfig":{"a":1},"new":2})"),
            R"(generationConfig={"speechConfig":{"a":1},"new":2};)");
  EXPECT_EQ(extras_of(R"("safetySettings":[],"cachedContent":"c","labels":{},"new":1)"),
            R"(safetySettings=[];cachedContent="c";labels={};new=1;)");
  EXPECT_EQ(read_gemini(with_members(R"("generationConfig":{"candidateCount":3})"))->choices, 3U);
}

TEST(GeminiRequest, names_the_field_that_is_wrong) {
  struct Case {
    std::string body;
    const char* param;
    const char* message;
  };
  const Case cases[] = {
      {"{}", "contents", "contents: missing, expected an array of contents"},
      {R"({"contents":[]})", "contents", "contents: empty, expected an array of contents"},
      {R"({"contents":"x"})", "contents", "contents: a string, expected an array of contents"},
      {R"({"contents":["x"]})", "contents[0]", "contents[0]: a string, expected an object"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"stopSequences":["a",7]}})",
       "generationConfig.stopSequences[1]",
       "generationConfig.stopSequences[1]: a number, expected a string"},
      {R"({"contents":[{}]})", "contents[0].parts",
       "contents[0].parts: missing, expected an array of parts"},
      {R"({"contents":[{"role":"robot","parts":[]}]})", "contents[0].role",
       "contents[0].role: \"robot\", expected user|model"},
      {R"({"contents":[{"role":7,"parts":[]}]})", "contents[0].role",
       "contents[0].role: a number, expected a string"},
      {R"({"contents":[{"parts":[7]}]})", "contents[0].parts[0]",
       "contents[0].parts[0]: a number, expected an object"},
      {R"({"contents":[{"parts":[{"text":"a"},{}]}]})", "contents[0].parts[1]",
       "contents[0].parts[1]: an empty part, expected text, inlineData, functionCall or the like"},
      {R"({"contents":[{"parts":[{"text":7}]}]})", "contents[0].parts[0].text",
       "contents[0].parts[0].text: a number, expected a string"},
      {R"({"contents":[{"parts":[{"inlineData":{"mimeType":"image/png"}}]}]})",
       "contents[0].parts[0].inlineData.data",
       "contents[0].parts[0].inlineData.data: missing, expected it"},
      {R"({"contents":[{"role":"model","parts":[{"functionCall":{"args":{}}}]}]})",
       "contents[0].parts[0].functionCall.name",
       "contents[0].parts[0].functionCall.name: missing, expected a name"},
      {R"({"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":"{}"}}]}]})",
       "contents[0].parts[0].functionCall.args",
       "contents[0].parts[0].functionCall.args: a string, expected an object"},
      {R"({"contents":[{"parts":[{"functionResponse":{"response":{}}}]}]})",
       "contents[0].parts[0].functionResponse.name",
       "contents[0].parts[0].functionResponse.name: missing, expected the name of a call"},
      {with_members(R"("tools":{})"), "tools", "tools: an object, expected an array of tools"},
      {with_members(R"("tools":[{"functionDeclarations":[{"description":"d"}]}])"),
       "tools[0].functionDeclarations[0].name",
       "tools[0].functionDeclarations[0].name: missing, expected a name"},
      {with_members(R"("tools":[{"functionDeclarations":[{"name":"f","parameters":[]}]}])"),
       "tools[0].functionDeclarations[0].parameters",
       "tools[0].functionDeclarations[0].parameters: an array, expected a schema"},
      {with_members(R"("toolConfig":{"functionCallingConfig":{"mode":"MAYBE"}})"),
       "toolConfig.functionCallingConfig.mode",
       "toolConfig.functionCallingConfig.mode: \"MAYBE\", expected AUTO|ANY|NONE|VALIDATED"},
      {with_members(R"("generationConfig":{"temperature":"hot"})"), "generationConfig.temperature",
       "generationConfig.temperature: a string, expected a number"},
      {with_members(R"("generationConfig":{"candidateCount":0})"),
       "generationConfig.candidateCount",
       "generationConfig.candidateCount: out of range, expected a whole number from 1 to 128"},
      {with_members(R"("systemInstruction":7)"), "systemInstruction",
       "systemInstruction: a number, expected a content"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.body);
    const auto request = read_gemini(each.body);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().param, each.param);
    EXPECT_EQ(request.error().message, each.message);
  }
}

TEST(GeminiRequest, reads_long_conversations_and_large_images) {
  std::string body = R"({"contents":[)";
  for (int i = 0; i < 10'000; ++i) {
    body += R"({"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},)"
            R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]},)";
  }
  body += R"({"parts":[{"inlineData":{"mimeType":"image/png","data":")" +
          std::string(std::size_t{20} << 20, 'A') + R"("}}]}]})";
  const auto request = read_gemini(body);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->messages.size(), 20'001U);
}

TEST(GeminiError, is_googles) {
  EXPECT_EQ(gemini_error_body({.code = ErrorCode::unauthenticated, .message = "no \"key\""}),
            R"({"error":{"code":401,"message":"no \"key\"","status":"UNAUTHENTICATED"}})");
  EXPECT_EQ(
      gemini_error_body({.code = ErrorCode::invalid_request, .message = "m", .param = "a.b"}),
      R"({"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a.b","description":"m"}]}]}})");
  const std::pair<ErrorCode, const char*> words[] = {
      {ErrorCode::forbidden, "PERMISSION_DENIED"},
      {ErrorCode::not_found, "NOT_FOUND"},
      {ErrorCode::rate_limited, "RESOURCE_EXHAUSTED"},
      {ErrorCode::unavailable, "UNAVAILABLE"},
      {ErrorCode::upstream_failed, "UNAVAILABLE"},
      {ErrorCode::timed_out, "DEADLINE_EXCEEDED"},
      {ErrorCode::internal, "INTERNAL"},
      {ErrorCode::conflict, "ABORTED"},
  };
  for (const auto& [code, word] : words) {
    EXPECT_THAT(gemini_error_body({.code = code, .message = "m"}),
                HasSubstr("\"status\":\"" + std::string(word) + "\""));
  }
  EXPECT_THAT(
      gemini_error_body(
          {.code = ErrorCode::upstream_failed, .message = "m", .type = "FAILED_PRECONDITION"}),
      HasSubstr("FAILED_PRECONDITION"));
}

class GeminiAnswer : public testing::Test {
 protected:
  void begin(bool stream, std::string_view form = {}, std::uint32_t choices = 1) {
    request_.stream = stream;
    request_.form = form;
    request_.choices = choices;
    encoder_ = kGemini.make_encoder(request_, {.id = "r", .model = "m", .created = 0});
    out_.clear();
    encoder_->bind(out_);
  }
  void say(const Event& event) { encoder_->choice(0).accept(event); }
  std::string taken() { return std::exchange(out_, {}); }

  Request request_;
  std::unique_ptr<ResponseEncoder> encoder_;
  std::string out_;
};

constexpr std::string_view kAbout = R"("modelVersion":"m","responseId":"r"})";

std::string part_frame(std::string_view part) {
  return R"({"candidates":[{"content":{"parts":[)" + std::string(part) +
         R"(],"role":"model"},"index":0}],)" + std::string(kAbout);
}

TEST_F(GeminiAnswer, is_a_whole_object_per_frame) {
  begin(true);
  say(ReasoningDelta{"hm"});
  EXPECT_EQ(taken(), "data: " + part_frame(R"({"thought":true,"text":"hm"})") + "\n\n");
  say(TextDelta{"a\"b\n"});
  EXPECT_EQ(taken(), "data: " + part_frame(R"({"text":"a\"b\n"})") + "\n\n");
  say(CallStarted{0, "find", "id1"});
  say(ArgumentsDelta{0, "{\"q\":\n"});
  say(ArgumentsDelta{0, "1}"});
  EXPECT_EQ(out_, "");
  say(CallFinished{0});
  EXPECT_EQ(taken(),
            "data: " + part_frame(R"({"functionCall":{"id":"id1","name":"find","args":{"q":1}}})") +
                "\n\n");
  say(UsageReported{{.prompt_tokens = 9,
                     .completion_tokens = 11,
                     .total_tokens = 20,
                     .cached_tokens = 2,
                     .reasoning_tokens = 4}});
  say(TurnFinished{FinishReason::tool_calls});
  EXPECT_EQ(out_, "");
  encoder_->finish({});
  EXPECT_EQ(
      taken(),
      R"(data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":7,"thoughtsTokenCount":4,"cachedContentTokenCount":2,"totalTokenCount":20},)" +
          std::string(kAbout) + "\n\n");
}

TEST_F(GeminiAnswer, says_what_was_estimated_and_how_long_it_took) {
  for (const bool stream : {true, false}) {
    begin(stream);
    say(TextDelta{"a"});
    say(TurnFinished{FinishReason::stop});
    AnswerEnd end;
    end.estimate = Usage{.prompt_tokens = 1, .completion_tokens = 2, .total_tokens = 3};
    end.timing = {.first_token_ms = 4, .duration_ms = 5, .trigger = "finish"};
    encoder_->finish(end);
    EXPECT_THAT(
        taken(),
        HasSubstr(
            R"("totalTokenCount":3,"estimated":true,"time_to_first_token_ms":4,"total_duration_ms":5,"emission_trigger":"finish"})"));
  }
}

TEST_F(GeminiAnswer, may_be_an_array) {
  begin(true, kGeminiArray);
  say(TextDelta{"a"});
  say(TextDelta{"b"});
  say(TurnFinished{FinishReason::stop});
  encoder_->finish({});
  EXPECT_EQ(
      out_,
      "[" + part_frame(R"({"text":"a"})") + "\n," + part_frame(R"({"text":"b"})") + "\n," +
          R"({"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,"finishReason":"STOP"}],)" +
          std::string(kAbout) + "\n]");
  begin(true, kGeminiArray);
  encoder_->fail({.code = ErrorCode::timed_out, .message = "m"});
  EXPECT_EQ(out_, R"([{"error":{"code":504,"message":"m","status":"DEADLINE_EXCEEDED"}})"
                  "\n]");
}

TEST_F(GeminiAnswer, fails_with_an_error_object) {
  begin(true);
  encoder_->fail({.code = ErrorCode::upstream_failed, .message = "m"});
  EXPECT_EQ(out_,
            "data: {\"error\":{\"code\":502,\"message\":\"m\",\"status\":\"UNAVAILABLE\"}}\n\n");
}

TEST_F(GeminiAnswer, says_how_the_turn_ended) {
  const std::pair<FinishReason, const char*> words[] = {{FinishReason::stop, "STOP"},
                                                        {FinishReason::tool_calls, "STOP"},
                                                        {FinishReason::length, "MAX_TOKENS"},
                                                        {FinishReason::content_filter, "SAFETY"}};
  for (const bool stream : {true, false}) {
    for (const auto& [reason, word] : words) {
      begin(stream);
      say(TurnFinished{reason});
      encoder_->finish({});
      EXPECT_THAT(out_, HasSubstr("\"finishReason\":\"" + std::string(word) + "\""));
    }
  }
}

TEST_F(GeminiAnswer, says_why_it_was_filtered) {
  for (const bool stream : {true, false}) {
    begin(stream);
    say(RefusalDelta{"not "});
    say(RefusalDelta{"this"});
    say(TurnFinished{FinishReason::content_filter});
    encoder_->finish({});
    EXPECT_THAT(out_, HasSubstr(R"("finishMessage":"not this")"));
    begin(stream);
    say(RefusalDelta{"no"});
    say(TurnFinished{FinishReason::stop});
    encoder_->finish({});
    EXPECT_THAT(out_, HasSubstr(R"({"text":"no"})"));
  }
}

const Event kCallSignature = FieldReported{
    FieldReported::Scope::message, "reasoning_details",
    R"([{"type":"reasoning.encrypted","data":"S","format":"google-gemini-v1","index":0}])"};
const Event kTextSignature = FieldReported{
    FieldReported::Scope::message, "reasoning_details",
    R"([{"type":"reasoning.encrypted","data":"T","format":"google-gemini-v1","id":"text"}])"};

TEST_F(GeminiAnswer, has_the_signature_of_a_call_on_it) {
  for (const bool stream : {true, false}) {
    begin(stream);
    say(kCallSignature);
    say(CallStarted{0, "f", "i"});
    say(CallFinished{0});
    say(TurnFinished{FinishReason::tool_calls});
    encoder_->finish({});
    EXPECT_THAT(
        out_,
        HasSubstr(R"({"functionCall":{"id":"i","name":"f","args":{}},"thoughtSignature":"S"})"));
  }
}

TEST_F(GeminiAnswer, has_the_signature_of_text_after_it) {
  begin(true);
  say(TextDelta{"a"});
  say(kTextSignature);
  EXPECT_THAT(out_, HasSubstr(part_frame(R"({"text":"","thoughtSignature":"T"})")));
  begin(false);
  say(TextDelta{"a"});
  say(kTextSignature);
  say(TurnFinished{FinishReason::stop});
  encoder_->finish({});
  EXPECT_THAT(out_, HasSubstr(R"("parts":[{"text":"a","thoughtSignature":"T"}])"));
}

TEST_F(GeminiAnswer, seals_what_another_issuer_sealed) {
  const std::string detail = R"({"type":"reasoning.encrypted","data":"E","format":"other-v1"})";
  const std::string report = "[" + detail + "]";
  const std::string sealed = "\"thoughtSignature\":\"" + *seal_reasoning(detail) + "\"";
  for (const bool stream : {true, false}) {
    begin(stream);
    say(FieldReported{FieldReported::Scope::message, "reasoning_details", report});
    say(CallStarted{0, "f", "i"});
    say(CallFinished{0});
    say(TurnFinished{FinishReason::tool_calls});
    encoder_->finish({});
    EXPECT_THAT(out_, HasSubstr(R"({"functionCall":{"id":"i","name":"f","args":{}},)" + sealed));
    begin(stream);
    say(FieldReported{FieldReported::Scope::message, "reasoning_details", report});
    say(TextDelta{"a"});
    say(TurnFinished{FinishReason::stop});
    encoder_->finish({});
    EXPECT_THAT(out_, HasSubstr(R"({"text":"",)" + sealed));
  }
}

TEST_F(GeminiAnswer, has_every_candidate_in_the_last_object) {
  begin(true, {}, 2);
  encoder_->choice(1).accept(TextDelta{"b"});
  EXPECT_THAT(taken(), HasSubstr(R"("index":1)"));
  encoder_->choice(0).accept(TurnFinished{FinishReason::stop});
  encoder_->choice(1).accept(TurnFinished{FinishReason::length});
  encoder_->finish({});
  EXPECT_THAT(out_, HasSubstr(R"("index":0,"finishReason":"STOP"},{"content")"));
  EXPECT_THAT(out_, HasSubstr(R"("index":1,"finishReason":"MAX_TOKENS"}])"));
}

TEST_F(GeminiAnswer, passes_fields_of_the_api_on) {
  for (const bool stream : {true, false}) {
    begin(stream);
    say(FieldReported{FieldReported::Scope::message, "parts",
                      R"([{"executableCode":{"code":"1\n"}}])"});
    say(FieldReported{FieldReported::Scope::choice, "groundingMetadata", "{\"a\":1}"});
    say(FieldReported{FieldReported::Scope::turn, "createTime", "\"t\""});
    say(UsageReported{{.prompt_tokens = 1}, R"({"promptTokenCount":1,"new":[2]})"});
    say(TurnFinished{FinishReason::stop});
    encoder_->finish({});
    EXPECT_THAT(out_, HasSubstr(R"({"executableCode":{"code":"1\n"}})"));
    EXPECT_THAT(out_, HasSubstr(R"("groundingMetadata":{"a":1})"));
    EXPECT_THAT(out_, HasSubstr(R"("createTime":"t")"));
    EXPECT_THAT(out_, HasSubstr(R"("new":[2]})"));
  }
}

TEST_F(GeminiAnswer, has_probabilities) {
  const Event logprobs = FieldReported{
      FieldReported::Scope::choice, "logprobs",
      R"({"content":[{"token":"a","logprob":-1,"bytes":null,"top_logprobs":[{"token":"b","logprob":-2,"bytes":null}]}],"refusal":null})"};
  for (const bool stream : {true, false}) {
    begin(stream);
    say(logprobs);
    say(TextDelta{"a"});
    say(TurnFinished{FinishReason::stop});
    encoder_->finish({});
    EXPECT_THAT(
        out_,
        HasSubstr(
            R"("logprobsResult":{"topCandidates":[{"candidates":[{"token":"b","logProbability":-2}]}],"chosenCandidates":[{"token":"a","logProbability":-1}]})"));
  }
}

TEST_F(GeminiAnswer, has_room_for_news) {
  begin(true);
  encoder_->note("callgate", R"({"tool":"x"})");
  EXPECT_EQ(
      out_,
      R"(data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}],"callgate":{"tool":"x"},)" +
          std::string(kAbout) + "\n\n");
}

TEST_F(GeminiAnswer, never_has_comments) {
  begin(true);
  say(TurnFinished{FinishReason::stop});
  AnswerEnd end;
  end.counters = R"({"a":1})";
  encoder_->finish(end);
  EXPECT_EQ(out_.find("\n:"), std::string::npos);
  EXPECT_EQ(kGemini.keep_alive, "");
}

TEST(Gemini, lists_models) {
  const std::array<ModelEntry, 1> models = {{{"a", "up", 0}}};
  EXPECT_THAT(kGemini.print_models(models), HasSubstr(R"({"models":[{"name":"models/a")"));
  EXPECT_THAT(kGemini.print_model(models[0]), HasSubstr("generateContent"));
}

}  // namespace
}  // namespace callgate::client::gemini_test
