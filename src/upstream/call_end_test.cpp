// When a structured call is finished, in every wire format: with the bytes that say so, not with whatever comes next.
#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"

namespace callgate::upstream::call_end_test {
namespace {

struct Turn {
  std::string_view wire;
  std::vector<std::string_view> open;  // the call, but for what ends it
  std::string_view last;               // after which it is finished
};

const std::vector<Turn>& turns() {
  static const std::vector<Turn> all = {
      {"anthropic_messages",
       {R"({"type":"message_start","message":{"id":"m","content":[]}})",
        R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}})"},
       R"({"type":"content_block_stop","index":0})"},
      {"anthropic_messages",
       {R"({"type":"message_start","message":{"id":"m","content":[]}})",
        R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":1}}})"},
       R"({"type":"content_block_stop","index":0})"},
      {"openai_responses",
       {R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}})",
        R"({"type":"response.function_call_arguments.delta","item_id":"i","output_index":0,"delta":"{\"a\":1}"})"},
       R"({"type":"response.function_call_arguments.done","item_id":"i","output_index":0,"arguments":"{\"a\":1}"})"},
      {"openai_responses",
       {R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}})"},
       R"({"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":"{\"a\":1}"}})"},
      {"openai_responses",
       {R"({"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"i","call_id":"c","name":"f","input":""}})",
        R"({"type":"response.custom_tool_call_input.delta","item_id":"i","output_index":0,"delta":"ls"})"},
       R"({"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"i","call_id":"c","name":"f","input":"ls"}})"},
      {"openai_chat",
       {R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]})"},
       R"({"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]})"},
      {"openai_chat",
       {R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]})"},
       R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"d","function":{"name":"g","arguments":""}}]}}]})"},
      {"gemini",
       {},
       R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},"index":0}]})"},
      {"gemini",
       {},
       R"({"candidates":[{"content":{"parts":[{"functionCall":{"id":"c","name":"f","args":{"a":1}}}]},"index":0}]})"},
      {"ollama",
       {},
       R"({"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false})"},
  };
  return all;
}

std::size_t finished_calls(const EventLog& log) {
  std::size_t count = 0;
  for (const LoggedEvent& event : log.events()) count += event.kind == LoggedEvent::Kind::end;
  return count;
}

TEST(CallEnd, comes_with_the_bytes_that_end_the_call) {
  for (const Turn& turn : turns()) {
    SCOPED_TRACE(std::string(turn.wire) + " " + std::string(turn.last));
    Request request;
    request.tools.push_back({.name = "f", .parameters = {}});
    request.tools.push_back({.name = "g", .parameters = {}});
    const auto decoder = find(turn.wire)->make_decoder(request);
    LoggedChoice choice;
    for (const std::string_view frame : turn.open)
      decoder->push({.event = {}, .data = frame, .id = {}}, choice);
    EXPECT_EQ(finished_calls(choice.log()), 0u);
    decoder->push({.event = {}, .data = turn.last, .id = {}}, choice);
    EXPECT_EQ(finished_calls(choice.log()), 1u);
    decoder->finish(choice);
  }
}

// A server that says tool_calls with each fragment, or sends the last one after it.
TEST(CallEnd, waits_for_arguments_that_follow_the_finish_reason) {
  Request request;
  request.tools.push_back({.name = "f", .parameters = {}});
  const auto decoder = find("openai_chat")->make_decoder(request);
  LoggedChoice choice;
  const auto push = [&](std::string_view data) {
    decoder->push({.event = {}, .data = data, .id = {}}, choice);
  };
  push(
      R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":"}}]},"finish_reason":"tool_calls"}]})");
  EXPECT_EQ(finished_calls(choice.log()), 0u);
  push(
      R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]})");
  push("[DONE]");
  EXPECT_EQ(print(choice.log().events()),
            "call 0 f id=c\nargs 0 {\"a\":1}\nend 0 complete\nfinish tool_calls\n");
}

// {} may be all that the call has, or a place that others will take.
TEST(CallEnd, does_not_take_empty_arguments_for_the_last_word) {
  Request request;
  request.tools.push_back({.name = "f", .parameters = {}});
  const auto decoder = find("openai_chat")->make_decoder(request);
  LoggedChoice choice;
  const auto push = [&](std::string_view data) {
    decoder->push({.event = {}, .data = data, .id = {}}, choice);
  };
  push(
      R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})");
  EXPECT_EQ(finished_calls(choice.log()), 0u);
  push(
      R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]})");
  EXPECT_EQ(finished_calls(choice.log()), 1u);
  push("[DONE]");
  EXPECT_EQ(print(choice.log().events()),
            "call 0 f id=c\nargs 0 {\"a\":1}\nend 0 complete\nfinish tool_calls\n");
}

}  // namespace
}  // namespace callgate::upstream::call_end_test
