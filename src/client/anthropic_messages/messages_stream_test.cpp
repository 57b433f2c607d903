// What clients of Messages get for events: order, indices, ids, and how a stream ends. What the wire format's own decoder can
// judge is in engine/messages_oracle_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/content.h"
#include "chat/messages_frame.h"
#include "chat/sealed_reasoning.h"
#include "chat/token_estimate.h"
#include "client/anthropic_messages/anthropic_messages.h"

namespace callgate::client::messages_stream_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Scope = FieldReported::Scope;

const ResponseIdentity kMessage{.id = "msg_1", .model = "m", .created = 7};

std::string encoded(const Request& request, const std::vector<Event>& events,
                    const AnswerEnd& end = {}) {
  const auto encoder = kAnthropicMessages.make_encoder(request, kMessage);
  std::string out;
  encoder->bind(out);
  for (const Event& event : events) encoder->choice(0).accept(event);
  encoder->finish(end);
  return out;
}

std::string streamed(const std::vector<Event>& events) { return encoded({.stream = true}, events); }

// A frame. The name of the event is the `type` of its data.
std::string sse(std::string_view json) {
  const std::size_t from = json.find("\"type\":\"") + 8;
  const std::string_view type = json.substr(from, json.find('"', from) - from);
  return "event: " + std::string(type) + "\ndata: " + std::string(json) + "\n\n";
}

std::string start(
    std::string_view usage =
        R"({"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0})") {
  return sse(
      R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":)" +
      std::string(usage) + "}}");
}

std::string block(int index, std::string_view json) {
  return sse(R"({"type":"content_block_start","index":)" + std::to_string(index) +
             R"(,"content_block":)" + std::string(json) + "}");
}

std::string delta(int index, std::string_view json) {
  return sse(R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":)" +
             std::string(json) + "}");
}

std::string stop(int index) {
  return sse(R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}");
}

std::string message_end(
    std::string_view delta_json,
    std::string_view usage =
        R"({"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0})") {
  return sse(R"({"type":"message_delta","delta":)" + std::string(delta_json) + R"(,"usage":)" +
             std::string(usage) + "}") +
         sse(R"({"type":"message_stop"})");
}

std::string ended(std::string_view reason) {
  return message_end(R"({"stop_reason":")" + std::string(reason) + R"(","stop_sequence":null})");
}

const std::string kTextStart = R"({"type":"text","text":""})";
const std::string kThinkingStart = R"({"type":"thinking","thinking":"","signature":""})";
const std::string kMark = *seal_reasoning(R"({"format":"callgate-text-v1"})");

std::string signature(int index, std::string_view text) {
  return delta(index, R"({"type":"signature_delta","signature":")" + std::string(text) + "\"}");
}

TEST(MessagesStream, writes_text_as_one_block) {
  EXPECT_EQ(streamed({TextDelta{"a\"\n"}, TextDelta{"b"}, TurnFinished{FinishReason::stop}}),
            start() + block(0, kTextStart) + delta(0, R"({"type":"text_delta","text":"a\"\n"})") +
                delta(0, R"({"type":"text_delta","text":"b"})") + stop(0) + ended("end_turn"));
}

TEST(MessagesStream, begins_a_message_even_for_an_empty_turn) {
  EXPECT_EQ(streamed({TurnFinished{FinishReason::length}}), start() + ended("max_tokens"));
}

TEST(MessagesStream, counts_blocks_by_their_place) {
  EXPECT_EQ(
      streamed({TextDelta{"a"}, CallStarted{0, "find", "c1"}, ArgumentsDelta{0, "{\"q\":1}"},
                CallFinished{0, CallOutcome::complete}, CallStarted{1, "add", "c2"},
                ArgumentsDelta{1, "{"}, ArgumentsDelta{1, "}"},
                CallFinished{1, CallOutcome::complete}, TurnFinished{FinishReason::tool_calls}}),
      start() + block(0, kTextStart) + delta(0, R"({"type":"text_delta","text":"a"})") + stop(0) +
          block(1, R"({"type":"tool_use","id":"c1","name":"find","input":{}})") +
          delta(1, R"({"type":"input_json_delta","partial_json":"{\"q\":1}"})") + stop(1) +
          block(2, R"({"type":"tool_use","id":"c2","name":"add","input":{}})") +
          delta(2, R"({"type":"input_json_delta","partial_json":"{"})") +
          delta(2, R"({"type":"input_json_delta","partial_json":"}"})") + stop(2) +
          ended("tool_use"));
}

TEST(MessagesStream, gives_text_after_a_call_a_block_of_its_own) {
  EXPECT_EQ(streamed({TextDelta{"a"}, CallStarted{0, "f", "c"}, ArgumentsDelta{0, "{}"},
                      CallFinished{0, CallOutcome::complete}, TextDelta{"b"},
                      TurnFinished{FinishReason::tool_calls}}),
            start() + block(0, kTextStart) + delta(0, R"({"type":"text_delta","text":"a"})") +
                stop(0) + block(1, R"({"type":"tool_use","id":"c","name":"f","input":{}})") +
                delta(1, R"({"type":"input_json_delta","partial_json":"{}"})") + stop(1) +
                block(2, kTextStart) + delta(2, R"({"type":"text_delta","text":"b"})") + stop(2) +
                ended("tool_use"));
}

TEST(MessagesStream, writes_an_object_for_a_call_without_arguments) {
  EXPECT_THAT(streamed({CallStarted{0, "f", "c"}, CallFinished{0, CallOutcome::complete},
                        TurnFinished{FinishReason::tool_calls}}),
              HasSubstr(delta(0, R"({"type":"input_json_delta","partial_json":"{}"})") + stop(0)));
}

TEST(MessagesStream, ends_thinking_with_a_mark_where_nobody_signed) {
  EXPECT_EQ(streamed({ReasoningDelta{"hm"}, TextDelta{"a"}, TurnFinished{FinishReason::stop}}),
            start() + block(0, kThinkingStart) +
                delta(0, R"({"type":"thinking_delta","thinking":"hm"})") + signature(0, kMark) +
                stop(0) + block(1, kTextStart) + delta(1, R"({"type":"text_delta","text":"a"})") +
                stop(1) + ended("end_turn"));
}

TEST(MessagesStream, ends_thinking_with_the_signature_of_the_api) {
  const Event signed_by_api = FieldReported{
      Scope::message, "reasoning_details",
      R"([{"type":"reasoning.text","text":"hm","signature":"EqQB","format":"anthropic-claude-v1","index":0}])"};
  EXPECT_EQ(streamed({ReasoningDelta{"hm"}, signed_by_api, ReasoningDelta{"more"}, signed_by_api,
                      TurnFinished{FinishReason::stop}}),
            start() + block(0, kThinkingStart) +
                delta(0, R"({"type":"thinking_delta","thinking":"hm"})") + signature(0, "EqQB") +
                stop(0) + block(1, kThinkingStart) +
                delta(1, R"({"type":"thinking_delta","thinking":"more"})") + signature(1, "EqQB") +
                stop(1) + ended("end_turn"));
}

TEST(MessagesStream, writes_redacted_thinking) {
  EXPECT_EQ(
      streamed(
          {FieldReported{
               Scope::message, "reasoning_details",
               R"([{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1"}])"},
           TurnFinished{FinishReason::stop}}),
      start() + block(0, R"({"type":"redacted_thinking","data":"EmwK"})") + stop(0) +
          ended("end_turn"));
}

TEST(MessagesStream, seals_what_another_issuer_encrypted) {
  const std::string element =
      R"({"type":"reasoning.encrypted","data":"gAAA","id":"rs_1","format":"openai-responses-v1"})";
  const std::string details = "[" + element + "]";
  const Event told = FieldReported{Scope::message, "reasoning_details", details};
  EXPECT_THAT(streamed({ReasoningDelta{"hm"}, told, TurnFinished{FinishReason::stop}}),
              HasSubstr(signature(0, *seal_reasoning(element)) + stop(0)));
  EXPECT_THAT(streamed({told, TurnFinished{FinishReason::stop}}),
              HasSubstr(block(0, R"({"type":"redacted_thinking","data":")" +
                                     *seal_reasoning(element) + "\"}") +
                        stop(0)));
}

TEST(MessagesStream, seals_several_elements_together) {
  const std::string details =
      R"([{"type":"a","data":"1","format":"x"},{"type":"reasoning.text","text":"said"},{"type":"b","data":"2","format":"x"}])";
  EXPECT_THAT(
      streamed({ReasoningDelta{"hm"}, FieldReported{Scope::message, "reasoning_details", details},
                TurnFinished{FinishReason::stop}}),
      HasSubstr(signature(
          0,
          *seal_reasoning(
              R"({"format":"callgate-list-v1","details":[{"type":"a","data":"1","format":"x"},{"type":"b","data":"2","format":"x"}]})"))));
}

TEST(MessagesStream, does_not_seal_more_than_its_limit) {
  const std::string details =
      R"([{"type":"reasoning.encrypted","data":")" + std::string(300'000, 'x') + "\"}]";
  const Event told = FieldReported{Scope::message, "reasoning_details", details};
  EXPECT_EQ(streamed({told, TurnFinished{FinishReason::stop}}), start() + ended("end_turn"));
  EXPECT_LT(streamed({ReasoningDelta{"hm"}, told, TurnFinished{FinishReason::stop}}).size(), 2000U);
}

TEST(MessagesStream, seals_a_seal_once_more) {
  const std::string element = R"({"type":"reasoning.text","text":"hm","signature":")" + kMark +
                              R"(","format":"anthropic-claude-v1"})";
  const std::string details = "[" + element + "]";
  EXPECT_THAT(
      streamed({ReasoningDelta{"hm"}, FieldReported{Scope::message, "reasoning_details", details},
                TurnFinished{FinishReason::stop}}),
      HasSubstr(signature(0, *seal_reasoning(element))));
}

TEST(MessagesStream, keeps_what_a_call_wants_back_before_it) {
  const std::string sealed = *seal_reasoning(
      R"({"format":"callgate-call-v1","call":"c","fields":{"extra_content":{"google":{"thought_signature":"s"}}}})");
  EXPECT_EQ(streamed({CallStarted{0, "f", "c"},
                      FieldReported{Scope::call, "extra_content",
                                    R"({"google":{"thought_signature":"s"}})", 0},
                      ArgumentsDelta{0, "{}"}, CallFinished{0, CallOutcome::complete},
                      TurnFinished{FinishReason::tool_calls}}),
            start() + block(0, R"({"type":"redacted_thinking","data":")" + sealed + "\"}") +
                stop(0) + block(1, R"({"type":"tool_use","id":"c","name":"f","input":{}})") +
                delta(1, R"({"type":"input_json_delta","partial_json":"{}"})") + stop(1) +
                ended("tool_use"));
}

TEST(MessagesStream, does_not_interleave_blocks) {
  const Event told = FieldReported{
      Scope::message, "reasoning_details",
      R"([{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1"}])"};
  const std::string out = streamed({CallStarted{0, "f", "c"}, told, ArgumentsDelta{0, "{"}, told,
                                    ArgumentsDelta{0, "}"}, CallFinished{0, CallOutcome::complete},
                                    TurnFinished{FinishReason::tool_calls}});
  EXPECT_EQ(out, start() + block(0, R"({"type":"redacted_thinking","data":"EmwK"})") + stop(0) +
                     block(1, R"({"type":"tool_use","id":"c","name":"f","input":{}})") +
                     delta(1, R"({"type":"input_json_delta","partial_json":"{"})") +
                     delta(1, R"({"type":"input_json_delta","partial_json":"}"})") + stop(1) +
                     block(2, R"({"type":"redacted_thinking","data":"EmwK"})") + stop(2) +
                     ended("tool_use"));
}

TEST(MessagesStream, counts_input_without_the_cache) {
  Usage usage{.prompt_tokens = 110, .completion_tokens = 20, .total_tokens = 130};
  usage.cached_tokens = 90;
  usage.cache_write_tokens = 8;
  usage.reasoning_tokens = 5;
  EXPECT_EQ(
      streamed({UsageReported{usage, {}}, TurnFinished{FinishReason::stop}}),
      start(
          R"({"input_tokens":12,"cache_creation_input_tokens":8,"cache_read_input_tokens":90,"output_tokens":0})") +
          message_end(
              R"({"stop_reason":"end_turn","stop_sequence":null})",
              R"({"input_tokens":12,"cache_creation_input_tokens":8,"cache_read_input_tokens":90,"output_tokens":20,"output_tokens_details":{"thinking_tokens":5}})"));
}

TEST(MessagesStream, passes_members_of_an_upstream_s_own_usage_but_not_of_another_schema) {
  const Usage usage{.prompt_tokens = 3, .completion_tokens = 1, .total_tokens = 4};
  EXPECT_THAT(streamed({UsageReported{usage, R"({"input_tokens":3,"inference_geo":"eu"})"},
                        TurnFinished{FinishReason::stop}}),
              HasSubstr(R"("output_tokens":1,"inference_geo":"eu"})"));
  EXPECT_THAT(streamed({UsageReported{usage, R"({"prompt_tokens":3,"input_tokens":3,"cost":2})"},
                        TurnFinished{FinishReason::stop}}),
              Not(HasSubstr("cost")));
}

TEST(MessagesStream, marks_an_estimate_and_says_how_long_it_took) {
  AnswerEnd end_of_answer;
  end_of_answer.estimate = Usage{.prompt_tokens = 3, .completion_tokens = 2, .total_tokens = 5};
  end_of_answer.timing = {10, 20};
  end_of_answer.counters = "{\"tool_call_count\":0}";
  const std::string out = encoded({.stream = true}, {TurnFinished{}}, end_of_answer);
  EXPECT_THAT(out, HasSubstr(": {\"tool_call_count\":0}\n\nevent: message_delta"));
  EXPECT_THAT(
      out,
      HasSubstr(
          R"("output_tokens":2,"estimated":true,"time_to_first_token_ms":10,"total_duration_ms":20,"emission_trigger":"usage"}})"));
}

TEST(MessagesStream, names_the_stop_sequence_that_matched) {
  const Request request{.stream = true, .extra = {{"stop", {R"(["END","x"])"}}}};
  const auto with = [&](std::string_view name, std::string_view json) {
    return encoded(request, {FieldReported{Scope::choice, name, json}, TurnFinished{}});
  };
  const std::string matched =
      message_end(R"({"stop_reason":"stop_sequence","stop_sequence":"END"})");
  EXPECT_THAT(with("stop_reason", "\"END\""), HasSubstr(matched));
  EXPECT_THAT(with("matched_stop", "\"END\""), HasSubstr(matched));
  // Not one that was asked for, and the number of a token.
  EXPECT_THAT(with("stop_reason", "\"</s>\""), HasSubstr(ended("end_turn")));
  EXPECT_THAT(with("stop_reason", "128009"), HasSubstr(ended("end_turn")));
}

TEST(MessagesStream, says_why_it_refused) {
  EXPECT_EQ(
      streamed({RefusalDelta{"I "}, RefusalDelta{"won't"}, TurnFinished{FinishReason::stop}}),
      start() +
          message_end(
              R"({"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"I won't"}})"));
  EXPECT_THAT(streamed({TurnFinished{FinishReason::content_filter}}), HasSubstr(ended("refusal")));
}

TEST(MessagesStream, puts_news_into_a_ping) {
  const auto encoder = kAnthropicMessages.make_encoder({.stream = true}, kMessage);
  std::string out;
  encoder->bind(out);
  encoder->note("callgate", "{\"a\":\n1}");
  EXPECT_EQ(out, start() + sse(R"({"type":"ping","callgate":{"a":1}})"));
}

TEST(MessagesStream, says_how_a_loop_ended_beside_the_end) {
  EXPECT_THAT(streamed({FieldReported{Scope::turn, "callgate", R"({"loop":"loop_1"})"},
                        TurnFinished{FinishReason::stop}}),
              HasSubstr(R"("output_tokens":0},"callgate":{"loop":"loop_1"}})"));
}

TEST(MessagesStream, fails_with_an_error_event) {
  const auto encoder = kAnthropicMessages.make_encoder({.stream = true}, kMessage);
  std::string out;
  encoder->bind(out);
  encoder->choice(0).accept(TextDelta{"a"});
  out.clear();
  encoder->fail({.code = ErrorCode::upstream_failed, .message = "broke\noff"});
  EXPECT_EQ(out, sse(R"({"type":"error","error":{"type":"api_error","message":"broke\noff"}})"));
}

Event told(std::string_view frame) { return FieldReported{Scope::message, kMessagesFrame, frame}; }

TEST(MessagesStream, passes_blocks_that_it_does_not_know) {
  EXPECT_EQ(
      streamed(
          {TextDelta{"a"},
           told(
               R"({"type":"content_block_start","index":7,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}})"),
           told(
               R"({"type":"content_block_delta","index":7,"delta":{"type":"input_json_delta","partial_json":"{}"}})"),
           told(R"({"type":"content_block_stop","index":7})"), TextDelta{"b"},
           TurnFinished{FinishReason::stop}}),
      start() + block(0, kTextStart) + delta(0, R"({"type":"text_delta","text":"a"})") + stop(0) +
          block(1, R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})") +
          delta(1, R"({"type":"input_json_delta","partial_json":"{}"})") + stop(1) +
          block(2, kTextStart) + delta(2, R"({"type":"text_delta","text":"b"})") + stop(2) +
          ended("end_turn"));
}

TEST(MessagesStream, passes_members_deltas_and_events_that_it_does_not_know) {
  EXPECT_EQ(
      streamed(
          {told(R"({"type":"message_start","message":{"container":{"id":"c"}}})"),
           told(R"({"type":"content_block_start","content_block":{"type":"text","citations":[]}})"),
           TextDelta{"a"},
           told(
               R"({"type":"content_block_delta","delta":{"type":"citations_delta","citation":{"x":1}}})"),
           told(R"({"type":"content_block_stop"})"), told(R"({"type":"news","n":1})"),
           told(
               R"({"type":"content_block_start","content_block":{"type":"tool_use","caller":{"type":"direct"}}})"),
           CallStarted{0, "f", "c"}, ArgumentsDelta{0, "{}"},
           CallFinished{0, CallOutcome::complete},
           told(
               R"({"type":"message_delta","delta":{"stop_reason":"tool_use","container":{"id":"d"}},"context_management":{"e":1}})"),
           TurnFinished{FinishReason::tool_calls}}),
      sse(R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"container":{"id":"c"}}})") +
          block(0, R"({"type":"text","text":"","citations":[]})") +
          delta(0, R"({"type":"text_delta","text":"a"})") +
          delta(0, R"({"type":"citations_delta","citation":{"x":1}})") + stop(0) +
          sse(R"({"type":"news","n":1})") +
          block(
              1,
              R"({"type":"tool_use","id":"c","name":"f","caller":{"type":"direct"},"input":{}})") +
          delta(1, R"({"type":"input_json_delta","partial_json":"{}"})") + stop(1) +
          sse(R"({"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"container":{"id":"d"}},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"context_management":{"e":1}})") +
          sse(R"({"type":"message_stop"})"));
}

TEST(MessagesStream, keeps_the_upstream_s_own_word_for_the_end_where_it_means_the_same) {
  const Event paused = told(R"({"type":"message_delta","delta":{"stop_reason":"pause_turn"}})");
  EXPECT_THAT(streamed({paused, TurnFinished{FinishReason::stop}}), HasSubstr(ended("pause_turn")));
  EXPECT_THAT(streamed({paused, TurnFinished{FinishReason::length}}),
              HasSubstr(ended("max_tokens")));
}

std::string whole(const std::vector<Event>& events) { return encoded({}, events); }

TEST(MessagesWhole, folds_the_same_blocks) {
  EXPECT_EQ(
      whole(
          {ReasoningDelta{"h"}, ReasoningDelta{"m"}, TextDelta{"a"}, TextDelta{"b"},
           CallStarted{0, "f", "c"}, ArgumentsDelta{0, "{\"q\":"}, ArgumentsDelta{0, "1}"},
           CallFinished{0, CallOutcome::complete},
           UsageReported{Usage{.prompt_tokens = 3, .completion_tokens = 2, .total_tokens = 5}, {}},
           TurnFinished{FinishReason::tool_calls}}),
      R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":")" +
          kMark +
          R"("},{"type":"text","text":"ab"},{"type":"tool_use","id":"c","name":"f","input":{"q":1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}})");
}

TEST(MessagesWhole, puts_arguments_that_are_no_object_into_one) {
  const auto input = [](std::string_view arguments) {
    return whole({CallStarted{0, "f", "c"}, ArgumentsDelta{0, arguments},
                  CallFinished{0, CallOutcome::malformed}, TurnFinished{FinishReason::tool_calls}});
  };
  EXPECT_THAT(input("{\"q\":"), HasSubstr(R"("input":{"raw":"{\"q\":"})"));
  EXPECT_THAT(input("[1]"), HasSubstr(R"("input":{"raw":"[1]"})"));
}

TEST(MessagesWhole, passes_what_it_does_not_know) {
  EXPECT_THAT(
      whole(
          {told(R"({"type":"message_start","message":{"container":{"id":"c"}}})"),
           told(R"({"type":"content_block_start","content_block":{"type":"text","citations":[]}})"),
           TextDelta{"a"},
           told(
               R"({"type":"content_block_delta","delta":{"type":"citations_delta","citation":{"x":1}}})"),
           told(
               R"({"type":"content_block_start","content_block":{"type":"server_tool_use","id":"s","input":{}}})"),
           told(
               R"({"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}})"),
           told(R"({"type":"content_block_stop"})"),
           told(R"({"type":"content_block_start","content_block":{"type":"web_result","n":[1]}})"),
           TurnFinished{FinishReason::stop}}),
      HasSubstr(
          R"("content":[{"type":"text","text":"a","citations":[{"x":1}]},{"type":"server_tool_use","id":"s","input":{"q":1}},{"type":"web_result","n":[1]}],"stop_reason":"end_turn")"));
}

TEST(MessagesWhole, has_no_reason_while_none_is_known) {
  EXPECT_THAT(whole({TextDelta{"a"}}), HasSubstr(R"("stop_reason":null)"));
}

TEST(MessagesErrors, have_types_and_statuses_of_the_api) {
  struct Case {
    Error error;
    int status;
    std::string_view type;
  };
  const Case cases[] = {
      {{.code = ErrorCode::invalid_request}, 400, "invalid_request_error"},
      {{.code = ErrorCode::unauthenticated}, 401, "authentication_error"},
      {{.code = ErrorCode::forbidden}, 403, "permission_error"},
      {{.code = ErrorCode::not_found}, 404, "not_found_error"},
      {{.code = ErrorCode::not_allowed}, 405, "invalid_request_error"},
      {{.code = ErrorCode::conflict}, 409, "invalid_request_error"},
      {{.code = ErrorCode::timed_out, .status = 408}, 408, "timeout_error"},
      {{.code = ErrorCode::too_large}, 413, "request_too_large"},
      {{.code = ErrorCode::rate_limited}, 429, "rate_limit_error"},
      {{.code = ErrorCode::internal}, 500, "api_error"},
      {{.code = ErrorCode::upstream_failed}, 502, "api_error"},
      {{.code = ErrorCode::timed_out}, 504, "timeout_error"},
      {{.code = ErrorCode::unavailable}, 529, "overloaded_error"},
      {{.code = ErrorCode::unavailable, .status = 503}, 503, "overloaded_error"},
      {{.code = ErrorCode::unavailable, .type = "overloaded_error", .status = 529},
       529,
       "overloaded_error"},
      {{.code = ErrorCode::rate_limited, .upstream_code = "insufficient_quota", .status = 429},
       429,
       "billing_error"},
      // Words of other APIs are none of this one's.
      {{.code = ErrorCode::rate_limited, .type = "tokens", .status = 429}, 429, "rate_limit_error"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(kAnthropicMessages.status_of(each.error), each.status) << each.type;
    EXPECT_THAT(kAnthropicMessages.error_body(each.error),
                HasSubstr(R"("error":{"type":")" + std::string(each.type) + "\""));
  }
}

TEST(MessagesErrors, name_the_request) {
  EXPECT_EQ(
      kAnthropicMessages.error_body(
          {.code = ErrorCode::not_found, .message = "no", .request_id = "req_1"}),
      R"({"type":"error","error":{"type":"not_found_error","message":"no"},"request_id":"req_1"})");
}

TEST(MessagesModels, are_listed_in_the_shape_of_the_api) {
  const std::array<ModelEntry, 2> models = {{{"a", "up", 0}, {"b", "up", 1'763'424'000}}};
  EXPECT_EQ(
      kAnthropicMessages.print_models(models),
      R"({"data":[{"type":"model","id":"a","display_name":"a","created_at":"1970-01-01T00:00:00Z"},{"type":"model","id":"b","display_name":"b","created_at":"2025-11-18T00:00:00Z"}],"has_more":false,"first_id":"a","last_id":"b"})");
  EXPECT_EQ(kAnthropicMessages.print_models({}),
            R"({"data":[],"has_more":false,"first_id":null,"last_id":null})");
  EXPECT_EQ(kAnthropicMessages.print_token_count(7), R"({"input_tokens":7})");
}

TEST(MessagesStream, begins_with_an_estimate_of_a_prompt_that_nobody_has_counted_yet) {
  const Request request{
      .messages = {{.role = Role::user, .content = text_content(std::string(350, 'a'))}},
      .stream = true};
  const auto started = [&](bool estimates, const std::vector<Event>& events) {
    const auto encoder = kAnthropicMessages.make_encoder(
        request, {.id = "msg_1", .model = "m", .created = 7, .estimates = estimates});
    std::string out;
    encoder->bind(out);
    for (const Event& event : events) encoder->choice(0).accept(event);
    return out;
  };
  const UsageReported counted{.usage = {.prompt_tokens = 7}};
  EXPECT_THAT(started(false, {TextDelta{"x"}}), HasSubstr(R"("usage":{"input_tokens":0,)"));
  EXPECT_THAT(started(true, {counted, TextDelta{"x"}}), HasSubstr(R"("usage":{"input_tokens":7,)"));
  EXPECT_THAT(
      started(true, {TextDelta{"x"}}),
      HasSubstr(R"("usage":{"input_tokens":)" + std::to_string(estimate_tokens(request)) + ","));
  EXPECT_GT(estimate_tokens(request), 90);
}

}  // namespace
}  // namespace callgate::client::messages_stream_test
