#include "contract/event_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace callgate::contract::event_contract_test {
namespace {

const ToolSpec& event_weather() {
  static const ToolSpec tool = [] {
    ToolSpec made;
    made.name = "get_weather";
    made.parameters.text =
        R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})";
    return made;
  }();
  return tool;
}

ContractTerms event_terms() {
  static constexpr std::string_view kMarkers[] = {"<tool_call>"};
  static constexpr std::string_view kSecrets[] = {"secret-0123456789"};
  ContractTerms made;
  made.tools = {&event_weather(), 1};
  made.call_expected = true;
  made.markers = kMarkers;
  made.secrets = kSecrets;
  return made;
}

struct Judged {
  std::vector<std::string> failed;
  std::string transcript;
};

Judged judge_stream(std::string_view protocol, std::string_view bytes, std::size_t step,
                    const ContractTerms& terms = event_terms()) {
  const auto contract = make_contract(protocol, terms);
  contract->accept_head(200, "text/event-stream; charset=utf-8");
  for (std::size_t at = 0; at < bytes.size(); at += step) contract->push(bytes.substr(at, step));
  contract->finish();
  Judged judged;
  for (const RuleVerdict& verdict : contract->verdicts()) {
    EXPECT_EQ(verdict.seen.find("secret-0123456789"), std::string::npos);
    if (verdict.verdict == Verdict::fail) judged.failed.emplace_back(verdict.rule);
  }
  judged.transcript = contract->transcript();
  return judged;
}

std::string event_frame(std::string_view type, std::string_view rest) {
  return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" +
         std::string(rest) + "}\n\n";
}

std::string swapped(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

// Without the frame that has `what` in it.
std::string without(const std::string& text, std::string_view what) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  const std::size_t begin = text.rfind("event: ", at);
  return text.substr(0, begin) + text.substr(text.find("\n\n", at) + 2);
}

const std::string kMessages =
    event_frame(
        "message_start",
        R"(,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}})") +
    event_frame("ping", "") +
    event_frame("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})") +
    event_frame("content_block_delta",
                R"(,"index":0,"delta":{"type":"text_delta","text":"I look"})") +
    event_frame("content_block_stop", R"(,"index":0)") +
    event_frame(
        "content_block_start",
        R"(,"index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}})") +
    event_frame("content_block_delta",
                R"(,"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\": "})") +
    event_frame("content_block_delta",
                R"(,"index":1,"delta":{"type":"input_json_delta","partial_json":"\"Paris\"}"})") +
    event_frame("content_block_stop", R"(,"index":1)") +
    event_frame(
        "message_delta",
        R"(,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":15})") +
    event_frame("message_stop", "");

const std::string kResponseObject =
    R"(,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"model":"m","parallel_tool_calls":true,"previous_response_id":null,"reasoning":{},"store":false,"temperature":1,"text":{},"tool_choice":"auto","tools":[],"top_p":1,"truncation":"disabled","metadata":{},"output":[],"usage":null})";
const std::string kTextItem =
    R"({"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look","annotations":[]}]})";
const std::string kCallItem =
    R"({"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Paris\"}"})";
const std::string kResponses =
    event_frame("response.created", R"(,"sequence_number":0)" + kResponseObject) +
    event_frame(
        "response.output_item.added",
        R"(,"sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]})") +
    event_frame(
        "response.content_part.added",
        R"(,"sequence_number":2,"output_index":0,"item_id":"msg_1","content_index":0,"part":{"type":"output_text","text":""})") +
    event_frame(
        "response.output_text.delta",
        R"(,"sequence_number":3,"output_index":0,"item_id":"msg_1","content_index":0,"delta":"I look")") +
    event_frame(
        "response.output_text.done",
        R"(,"sequence_number":4,"output_index":0,"item_id":"msg_1","content_index":0,"text":"I look")") +
    event_frame(
        "response.content_part.done",
        R"(,"sequence_number":5,"output_index":0,"item_id":"msg_1","content_index":0,"part":{"type":"output_text","text":"I look"})") +
    event_frame("response.output_item.done",
                R"(,"sequence_number":6,"output_index":0,"item":)" + kTextItem) +
    event_frame(
        "response.output_item.added",
        R"(,"sequence_number":7,"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"get_weather","arguments":""})") +
    event_frame(
        "response.function_call_arguments.delta",
        R"(,"sequence_number":8,"output_index":1,"item_id":"fc_1","delta":"{\"city\":\"Paris\"}")") +
    event_frame(
        "response.function_call_arguments.done",
        R"(,"sequence_number":9,"output_index":1,"item_id":"fc_1","arguments":"{\"city\":\"Paris\"}")") +
    event_frame("response.output_item.done",
                R"(,"sequence_number":10,"output_index":1,"item":)" + kCallItem) +
    event_frame(
        "response.completed",
        R"(,"sequence_number":11)" +
            swapped(
                swapped(
                    swapped(
                        kResponseObject, R"("usage":null)",
                        R"("usage":{"input_tokens":1,"input_tokens_details":{},"output_tokens":2,"output_tokens_details":{},"total_tokens":3})"),
                    R"("output":[])", R"("output":[)" + kTextItem + "," + kCallItem + "]"),
                "in_progress", "completed"));

struct EventCase {
  std::string_view protocol;
  std::string bytes;
  std::vector<std::string> failed;
};

void expect_faults(const std::vector<EventCase>& cases) {
  for (const EventCase& one : cases) {
    for (const std::size_t step : {one.bytes.size(), std::size_t{1}, std::size_t{7}}) {
      EXPECT_EQ(judge_stream(one.protocol, one.bytes, step).failed, one.failed)
          << one.bytes << "\nin steps of " << step;
    }
  }
}

TEST(EventContract, finds_what_is_wrong_with_messages) {
  const std::string& good = kMessages;
  expect_faults({
      {"messages", good, {}},
      {"messages", without(good, "ping"), {}},
      {"messages", swapped(good, "event: message_delta\n", ""), {"event_lines"}},
      {"messages", swapped(good, "event: ping", "event: pong"), {"event_name"}},
      {"messages", without(good, "message_start"), {"start_first"}},
      {"messages", swapped(good, R"("content":[],)", ""), {"start_form"}},
      {"messages", swapped(good, R"("input_tokens":9,)", ""), {"start_form"}},
      {"messages", swapped(good, R"("stop_reason":null,)", ""), {"start_form"}},
      {"messages",
       swapped(good, R"("index":1,"content)", R"("index":2,"content)"),
       {"block_index"}},
      {"messages", without(good, R"(stop","index":0)"), {"blocks_in_sequence"}},
      {"messages", swapped(good, "text_delta", "thinking_delta"), {"deltas_fit"}},
      {"messages", swapped(good, "text_delta", "song_delta"), {"event_known"}},
      {"messages", swapped(good, R"("type":"text")", R"("type":"song")"), {"event_known"}},
      {"messages",
       swapped(good, R"("input":{})", R"("input":{"city":"Paris"})"),
       {"input_in_deltas"}},
      {"messages", swapped(good, R"("id":"toolu_1")", R"("id":"")"), {"call_id"}},
      {"messages", swapped(good, "get_weather", "get_time"), {"tool_is_declared"}},
      {"messages", swapped(good, "city", "town"), {"arguments_fit_tool"}},
      {"messages", swapped(good, R"(\"Paris\")", "7"), {"arguments_fit_tool"}},
      {"messages", swapped(good, R"(\"Paris\"})", R"(\"Paris\")"), {"arguments_are_json"}},
      {"messages",
       swapped(good, R"("stop_reason":"tool_use")", R"("stop_reason":"end_turn")"),
       {"stop_reason_matches_calls"}},
      {"messages",
       swapped(good, R"("stop_reason":"tool_use")", R"("stop_reason":"maybe")"),
       {"stop_reason_known", "stop_reason_matches_calls"}},
      {"messages",
       swapped(good, R"("usage":{"output_tokens":15})", R"("usage":{})"),
       {"message_usage"}},
      {"messages", without(good, "message_delta"), {"stop_reason_once"}},
      {"messages", without(good, "message_stop"), {"stream_complete", "stop_last"}},
      {"messages",
       good + event_frame("content_block_stop", R"(,"index":1)"),
       {"blocks_in_sequence", "stop_last"}},
      {"messages", good.substr(0, good.size() - 1), {"frames_closed"}},
      {"messages", swapped(good, "I look", R"(I <tool_call>)"), {"no_markup"}},
      {"messages", swapped(good, "I look", "secret-0123456789"), {"no_secrets"}},
      {"messages", swapped(good, "I look", R"(\ud83d)"), {"whole_characters"}},
      {"messages", swapped(good, R"(data: {"type":"ping"})", "data: [1]"), {"frames_are_json"}},
      {"messages",
       swapped(good, event_frame("ping", ""),
               event_frame("error", R"(,"error":{"type":"api_error","message":"no"})")),
       {"no_error"}},
  });
}

TEST(EventContract, finds_what_is_wrong_with_responses) {
  const std::string& good = kResponses;
  expect_faults({
      {"responses", good, {}},
      {"responses", swapped(good, "event: response.created\n", ""), {}},
      {"responses",
       swapped(good, "event: response.created", "event: response.made"),
       {"event_name"}},
      {"responses",
       swapped(good, R"("sequence_number":3)", R"("sequence_number":4)"),
       {"sequence"}},
      {"responses", without(good, "response.created"), {"sequence", "created_first"}},
      {"responses", swapped(good, R"("store":false,)", ""), {"response_form"}},
      {"responses", swapped(good, R"("output":[],)", R"("output":null,)"), {"response_form"}},
      {"responses", swapped(good, "resp_1", "resp_2"), {"response_form"}},
      {"responses",
       swapped(good, R"("output_index":1,"item":{)", R"("output_index":5,"item":{)"),
       {"items_added"}},
      {"responses", swapped(good, R"("item_id":"fc_1")", R"("item_id":"fc_2")"), {"item_ids"}},
      {"responses",
       without(good, R"(item.done","sequence_number":6)"),
       {"sequence", "items_done", "output_repeats"}},
      {"responses", without(good, "part.added"), {"sequence", "parts_added"}},
      {"responses",
       swapped(good, R"("arguments":"")", R"("arguments":"{}")"),
       {"call_starts_empty"}},
      {"responses", swapped(good, R"(,"text":"I look")", R"(,"text":"I")"), {"done_repeats"}},
      {"responses",
       swapped(good, R"("delta":"I look")", R"("delta":"I looked")"),
       {"done_repeats"}},
      {"responses",
       swapped(good, R"("call_id":"call_1")", R"("call_id":"")"),
       {"call_id", "call_starts_empty"}},
      {"responses", without(good, "response.completed"), {"stream_complete", "ends_once"}},
      {"responses",
       good + event_frame("response.in_progress", R"(,"sequence_number":12)" + kResponseObject),
       {"ends_once"}},
      {"responses", swapped(good, "," + kCallItem + "]", "]"), {"output_repeats"}},
      {"responses", swapped(good, R"("total_tokens":3)", R"("total":3)"), {"response_usage"}},
      {"responses", swapped(good, R"("input_tokens_details":{},)", ""), {"response_usage"}},
      {"responses", good.substr(0, good.size() - 1), {"frames_closed"}},
      {"responses",
       swapped(good, R"("delta":"I look")", R"("delta":"I <tool_call>")"),
       {"no_markup", "done_repeats"}},
      {"responses", "event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n" + good, {}},
      {"responses",
       good + event_frame("response.surprise", R"(,"sequence_number":12)"),
       {"event_known", "ends_once"}},
  });
}

TEST(EventContract, a_call_that_never_came_is_one_fault) {
  const std::string text = without(without(without(without(kMessages, "toolu_1"), "city"), "Paris"),
                                   R"(stop","index":1)");
  EXPECT_EQ(
      judge_stream("messages",
                   swapped(text, R"("stop_reason":"tool_use")", R"("stop_reason":"end_turn")"), 3)
          .failed,
      std::vector<std::string>{"call_made"});
}

TEST(EventContract, a_call_that_a_failure_cut_need_not_be_done) {
  const std::string cut =
      kResponses.substr(0, kResponses.find("event: response.function_call_arguments.done"));
  const auto failed =
      judge_stream(
          "responses",
          cut + event_frame(
                    "response.failed",
                    R"(,"sequence_number":9,"response":{"error":{"code":"c","message":"m"}})"),
          7)
          .failed;
  const auto has = [&](std::string_view rule) {
    return std::find(failed.begin(), failed.end(), rule) != failed.end();
  };
  EXPECT_TRUE(has("no_error"));
  EXPECT_FALSE(has("items_done"));
}

TEST(EventContract, another_tool_than_the_forced_one_is_a_fault) {
  ContractTerms terms = event_terms();
  terms.forced_tool = "get_time";
  for (const auto& [protocol, bytes] :
       {std::pair("messages", kMessages), std::pair("responses", kResponses)}) {
    EXPECT_EQ(judge_stream(protocol, bytes, 9, terms).failed,
              std::vector<std::string>{"forced_tool"});
  }
}

TEST(EventContract, a_transcript_says_what_was_said_and_no_more) {
  EXPECT_EQ(judge_stream("messages", kMessages, 5).transcript,
            "content \"I look\"\ncall \"get_weather\" {\"city\":\"Paris\"}\nfinish \"tool_use\"\n");
  EXPECT_EQ(
      judge_stream("responses", kResponses, 5).transcript,
      "content \"I look\"\ncall \"get_weather\" {\"city\":\"Paris\"}\nfinish \"completed\"\n");
}

TEST(EventContract, a_refusal_is_judged_by_its_status_alone) {
  for (const std::string_view protocol : {"messages", "responses"}) {
    const auto contract = make_contract(protocol, event_terms());
    contract->accept_head(404, "application/json");
    contract->push(R"({"type":"error"})");
    contract->finish();
    for (const RuleVerdict& verdict : contract->verdicts()) {
      EXPECT_EQ(verdict.verdict == Verdict::fail, verdict.rule == "status_ok") << verdict.rule;
    }
  }
}

}  // namespace
}  // namespace callgate::contract::event_contract_test
