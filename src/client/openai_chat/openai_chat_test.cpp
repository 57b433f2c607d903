#include "client/openai_chat/openai_chat.h"

#include <gtest/gtest.h>

namespace callgate::client::openai_chat_test {
namespace {

const ResponseIdentity kIdentity{.id = "chatcmpl-1", .model = "m", .created = 7};
constexpr std::string_view kHead =
    R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"m",)";

// What a client gets for these events of one choice.
std::string written(const Request& request, std::initializer_list<Event> events) {
  const auto encoder = kOpenaiChat.make_encoder(request, kIdentity);
  std::string out;
  encoder->bind(out);
  for (const Event& event : events) encoder->choice(0).accept(event);
  encoder->finish({});
  return out;
}

std::string frame(std::string_view rest) { return std::string(kHead).append(rest) + "\n\n"; }

std::string delta(std::string_view json, std::string_view finish = "null") {
  return frame("\"choices\":[{\"index\":0,\"delta\":" + std::string(json) +
               ",\"finish_reason\":" + std::string(finish) + "}]}");
}

const std::string kRole = delta(R"({"role":"assistant","content":""})");
const std::string kDone = "data: [DONE]\n\n";

TEST(OpenaiStream, starts_with_the_role_and_ends_with_done) {
  EXPECT_EQ(written({.stream = true}, {TextDelta{"a\"\n"}, TurnFinished{FinishReason::stop}}),
            kRole + delta(R"({"content":"a\"\n"})") + delta("{}", "\"stop\"") + kDone);
}

TEST(OpenaiStream, writes_the_role_even_for_an_empty_turn) {
  EXPECT_EQ(written({.stream = true}, {TurnFinished{FinishReason::length}}),
            kRole + delta("{}", "\"length\"") + kDone);
}

TEST(OpenaiStream, writes_a_call_as_a_header_and_fragments) {
  EXPECT_EQ(
      written({.stream = true},
              {CallStarted{0, "find", "c1"}, ArgumentsDelta{0, "{\"q\""}, ArgumentsDelta{0, ":1}"},
               CallFinished{0, CallOutcome::complete}, TurnFinished{FinishReason::tool_calls}}),
      kRole +
          delta(
              R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"find","arguments":""}}]})") +
          delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"q\""}}]})") +
          delta(R"({"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]})") +
          delta("{}", "\"tool_calls\"") + kDone);
}

TEST(OpenaiStream, writes_a_field_of_the_message_into_its_delta) {
  EXPECT_EQ(written({.stream = true},
                    {FieldReported{FieldReported::Scope::message, "reasoning_details", "[1]"},
                     TurnFinished{FinishReason::stop}}),
            kRole + delta(R"({"reasoning_details":[1]})") + delta("{}", "\"stop\"") + kDone);
}

constexpr FieldReported::Scope kOfCall = FieldReported::Scope::call;
constexpr FieldReported::Scope kOfTurn = FieldReported::Scope::turn;
constexpr FieldReported::Scope kOfChoice = FieldReported::Scope::choice;

TEST(OpenaiStream, writes_a_field_of_a_call_into_the_delta_that_starts_it) {
  EXPECT_EQ(
      written({.stream = true},
              {CallStarted{0, "f", "c1"}, FieldReported{kOfCall, "extra_content", "{\n}", 0},
               FieldReported{kOfCall, "x", "1", 0}, ArgumentsDelta{0, "{}"},
               FieldReported{kOfCall, "late", "2", 0}, CallFinished{0, CallOutcome::complete},
               TurnFinished{FinishReason::tool_calls}}),
      kRole +
          delta(
              R"({"tool_calls":[{"index":0,"id":"c1","type":"function","extra_content":{},"x":1,"function":{"name":"f","arguments":""}}]})") +
          delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})") +
          delta(R"({"tool_calls":[{"index":0,"late":2,"function":{"arguments":""}}]})") +
          delta("{}", "\"tool_calls\"") + kDone);
}

TEST(OpenaiStream, does_not_change_a_frame_that_has_left) {
  const Request request{.stream = true};
  const auto encoder = kOpenaiChat.make_encoder(request, kIdentity);
  std::string out;
  encoder->bind(out);
  encoder->choice(0).accept(CallStarted{0, "f", "c1"});
  std::string next;
  encoder->bind(next);
  encoder->choice(0).accept(FieldReported{kOfCall, "x", "1", 0});
  EXPECT_EQ(next, delta(R"({"tool_calls":[{"index":0,"x":1,"function":{"arguments":""}}]})"));
}

TEST(OpenaiStream, writes_fields_of_choice_and_turn_once_beside_the_next_delta) {
  EXPECT_EQ(written({.stream = true},
                    {FieldReported{kOfTurn, "x_groq", "1"}, FieldReported{kOfTurn, "x_groq", "2"},
                     FieldReported{kOfChoice, "filter", "{}"}, TextDelta{"a"}, TextDelta{"b"},
                     FieldReported{kOfChoice, "native_finish_reason", "\"x\""},
                     FieldReported{kOfTurn, "x_groq", "3"}, TurnFinished{FinishReason::stop}}),
            frame(R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},)"
                  R"("finish_reason":null}],"x_groq":2})") +
                frame(R"("choices":[{"index":0,"delta":{"content":"a"},"filter":{},)"
                      R"("finish_reason":null}]})") +
                delta(R"({"content":"b"})") +
                frame(R"("choices":[{"index":0,"delta":{},"native_finish_reason":"x",)"
                      R"("finish_reason":"stop"}],"x_groq":3})") +
                kDone);
}

TEST(OpenaiWhole, has_every_field_in_its_place) {
  const std::string whole =
      written({}, {FieldReported{kOfTurn, "x_groq", "1"}, FieldReported{kOfTurn, "x_groq", "2"},
                   FieldReported{kOfChoice, "filter", "{}"}, CallStarted{0, "f", "c1"},
                   ArgumentsDelta{0, "{}"}, FieldReported{kOfCall, "extra_content", "7", 0},
                   CallFinished{0, CallOutcome::complete}, TurnFinished{FinishReason::tool_calls}});
  EXPECT_NE(whole.find(R"("x_groq":2,"choices")"), std::string::npos) << whole;
  EXPECT_NE(whole.find(R"("function":{"name":"f","arguments":"{}"},"extra_content":7})"),
            std::string::npos)
      << whole;
  EXPECT_NE(whole.find(R"("logprobs":null,"filter":{},"finish_reason")"), std::string::npos)
      << whole;
}

TEST(OpenaiWhole, keeps_members_of_usage_that_it_does_not_know) {
  Usage usage;
  usage.prompt_tokens = 9;
  usage.completion_tokens = 5;
  usage.total_tokens = 14;
  usage.cached_tokens = 4;
  usage.reasoning_tokens = 2;
  const std::string whole = written(
      {}, {UsageReported{usage, R"({"cost":0.1,"prompt_tokens":99,"total_tokens":null,"none":null,
             "prompt_tokens_details":{"audio_tokens":0,"cached_tokens":1},"estimated":false})"},
           TurnFinished{FinishReason::stop}});
  EXPECT_NE(whole.find(R"("usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,)"
                       R"("prompt_tokens_details":{"audio_tokens":0,"cached_tokens":4},)"
                       R"("completion_tokens_details":{"reasoning_tokens":2},"cost":0.1}})"),
            std::string::npos)
      << whole;
}

TEST(OpenaiStream, writes_a_note_beside_an_empty_delta) {
  for (const bool with_usage : {false, true}) {
    const Request request{.stream = true, .include_usage = with_usage};
    const auto encoder = kOpenaiChat.make_encoder(request, kIdentity);
    std::string out;
    encoder->bind(out);
    encoder->choice(0).accept(TextDelta{"a"});
    out.clear();
    encoder->note("callgate", R"({"n":1})");
    EXPECT_EQ(out, frame(R"("choices":[{"index":0,"delta":{},"finish_reason":null}],)"
                         R"("callgate":{"n":1})" +
                         std::string(with_usage ? R"(,"usage":null})" : "}")));
  }
}

TEST(OpenaiWhole, joins_the_reports_of_a_field_of_the_message) {
  const std::string whole = written(
      {}, {FieldReported{FieldReported::Scope::message, "reasoning_details", "[1,2]"},
           TextDelta{"a"}, FieldReported{FieldReported::Scope::message, "reasoning_details", "[]"},
           FieldReported{FieldReported::Scope::message, "reasoning_details", "[3]"},
           TurnFinished{FinishReason::stop}});
  EXPECT_NE(whole.find(R"("refusal":null,"reasoning_details":[1,2,3]})"), std::string::npos)
      << whole;
}

TEST(OpenaiStream, keeps_to_one_call_in_the_old_form) {
  EXPECT_EQ(written({.stream = true, .legacy_functions = true},
                    {CallStarted{0, "find", "c1"}, ArgumentsDelta{0, "{}"},
                     CallFinished{0, CallOutcome::complete}, CallStarted{1, "add", "c2"},
                     ArgumentsDelta{1, "{}"}, CallFinished{1, CallOutcome::complete},
                     TurnFinished{FinishReason::tool_calls}}),
            kRole + delta(R"({"function_call":{"name":"find","arguments":""}})") +
                delta(R"({"function_call":{"arguments":"{}"}})") +
                delta("{}", "\"function_call\"") + kDone);
}

TEST(OpenaiStream, writes_usage_after_the_finish_and_null_before) {
  const std::string out =
      written({.stream = true, .include_usage = true},
              {UsageReported{{.prompt_tokens = 1}}, TextDelta{"a"},
               UsageReported{{.prompt_tokens = 1, .completion_tokens = 2, .total_tokens = 3}},
               TurnFinished{FinishReason::stop}});
  EXPECT_EQ(
      out,
      frame(
          R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null})") +
          frame(
              R"("choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":null})") +
          frame(R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null})") +
          frame(
              R"("choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})") +
          kDone);
}

TEST(OpenaiStream, keeps_json_of_several_lines_in_one_frame) {
  using Scope = FieldReported::Scope;
  const std::string out =
      written({.stream = true},
              {FieldReported{Scope::turn, "service_tier", "\"flex\""},
               FieldReported{Scope::choice, "logprobs", "{\n\"content\":\r\n[]}"}, TextDelta{"a"},
               FieldReported{Scope::choice, "logprobs", "1"},
               FieldReported{Scope::choice, "logprobs", "2"}, TurnFinished{FinishReason::stop}});
  const std::string head =
      std::string(kHead) + "\"service_tier\":\"flex\",\"choices\":[{\"index\":0,\"delta\":";
  EXPECT_EQ(out, head + R"({"role":"assistant","content":""},"finish_reason":null}]})" + "\n\n" +
                     head + R"({"content":"a"},"logprobs":{"content":[]},"finish_reason":null}]})" +
                     "\n\n" + head + R"({},"logprobs":1,"finish_reason":null}]})" + "\n\n" + head +
                     R"({},"logprobs":2,"finish_reason":"stop"}]})" + "\n\n" + kDone);
}

TEST(OpenaiStream, writes_nothing_before_the_first_event_that_a_client_sees) {
  using Scope = FieldReported::Scope;
  const auto encoder = kOpenaiChat.make_encoder({.stream = true}, kIdentity);
  std::string out;
  encoder->bind(out);
  encoder->choice(0).accept(FieldReported{Scope::choice, "logprobs", "1"});
  encoder->choice(0).accept(FieldReported{Scope::choice, "logprobs", "2"});
  encoder->choice(0).accept(UsageReported{});
  EXPECT_EQ(out, "");
  encoder->choice(0).accept(TextDelta{"a"});
  EXPECT_EQ(out, kRole + delta("{},\"logprobs\":1") + delta(R"({"content":"a"},"logprobs":2)"));
}

TEST(OpenaiStream, ends_a_failed_turn_with_an_error_and_done) {
  const auto encoder = kOpenaiChat.make_encoder({.stream = true}, kIdentity);
  std::string out;
  encoder->bind(out);
  encoder->choice(0).accept(TextDelta{"a"});
  encoder->choice(0).accept(TurnFinished{FinishReason::upstream_error});
  encoder->fail({.code = ErrorCode::timed_out, .message = "too slow"});
  EXPECT_EQ(
      out,
      kRole + delta(R"({"content":"a"})") +
          "data: {\"error\":{\"message\":\"too slow\",\"type\":\"server_error\",\"param\":null,"
          "\"code\":\"timed_out\"}}\n\n" +
          kDone);
}

TEST(OpenaiWhole, folds_the_same_events) {
  EXPECT_EQ(
      written({}, {ReasoningDelta{"hm"}, CallStarted{0, "find", "c1"}, ArgumentsDelta{0, "{}"},
                   CallFinished{0, CallOutcome::complete}, UsageReported{{.total_tokens = 3}},
                   TurnFinished{FinishReason::tool_calls}}),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"m","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":null,"reasoning_content":"hm","refusal":null,)"
      R"("tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{}"}}]},)"
      R"("logprobs":null,"finish_reason":"tool_calls"}],)"
      R"("usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":3}})");
}

TEST(OpenaiWhole, says_an_empty_text_where_there_is_nothing_else) {
  EXPECT_EQ(
      written({}, {TurnFinished{FinishReason::stop}}),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"m","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":"stop"}]})");
}

TEST(OpenaiWhole, leaves_out_a_choice_that_never_came) {
  const auto encoder = kOpenaiChat.make_encoder({.choices = 2}, kIdentity);
  std::string out;
  encoder->bind(out);
  encoder->choice(0).accept(TurnFinished{FinishReason::stop});
  encoder->finish({});
  EXPECT_EQ(out.find("\"index\":1"), std::string::npos);
}

TEST(OpenaiError, always_has_its_four_keys) {
  EXPECT_EQ(
      openai_error_body({.code = ErrorCode::invalid_request, .message = "no", .param = "model"}),
      R"({"error":{"message":"no","type":"invalid_request_error","param":"model","code":null}})");
  EXPECT_EQ(openai_error_body({.code = ErrorCode::unauthenticated, .message = "no key"}),
            R"({"error":{"message":"no key","type":"invalid_request_error","param":null,)"
            R"("code":"invalid_api_key"}})");
}

TEST(OpenaiError, keeps_the_words_of_the_upstream) {
  EXPECT_EQ(
      openai_error_body({.code = ErrorCode::rate_limited,
                         .message = "quota",
                         .type = "insufficient_quota",
                         .upstream_code = "q1"}),
      R"({"error":{"message":"quota","type":"insufficient_quota","param":null,"code":"q1"}})");
}

TEST(Status, follows_the_code) {
  struct Row {
    ErrorCode code;
    int status;
  };
  for (const Row& row : {Row{ErrorCode::invalid_request, 400}, Row{ErrorCode::unauthenticated, 401},
                         Row{ErrorCode::forbidden, 403}, Row{ErrorCode::not_found, 404},
                         Row{ErrorCode::not_allowed, 405}, Row{ErrorCode::conflict, 409},
                         Row{ErrorCode::too_large, 413}, Row{ErrorCode::rate_limited, 429},
                         Row{ErrorCode::upstream_failed, 502}, Row{ErrorCode::unavailable, 503},
                         Row{ErrorCode::timed_out, 504}, Row{ErrorCode::internal, 500}}) {
    EXPECT_EQ(status_of({.code = row.code}), row.status);
  }
}

TEST(Status, keeps_what_the_upstream_said_where_a_caller_can_act_on_it) {
  EXPECT_EQ(status_of({.code = ErrorCode::invalid_request, .status = 422}), 422);
  EXPECT_EQ(status_of({.code = ErrorCode::rate_limited, .status = 429}), 429);
  EXPECT_EQ(status_of({.code = ErrorCode::upstream_failed, .status = 401}), 502);
  EXPECT_EQ(status_of({.code = ErrorCode::upstream_failed, .status = 500}), 502);
}

TEST(ClientRegistry, finds_protocols_by_name) {
  EXPECT_EQ(find("openai_chat"), &kOpenaiChat);
  EXPECT_EQ(find("nothing"), nullptr);
  EXPECT_FALSE(all().empty());
}

}  // namespace
}  // namespace callgate::client::openai_chat_test
