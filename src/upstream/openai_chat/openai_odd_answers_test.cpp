// Answers in shapes that no specification has.
#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"
#include "upstream/openai_chat/openai_chat_decoder.h"

namespace callgate::upstream::openai_odd_answers_test {
namespace {

std::string streamed(std::initializer_list<std::string_view> frames) {
  OpenaiChatDecoder decoder;
  LoggedChoice sinks;
  for (const std::string_view data : frames) decoder.push({.data = data}, sinks);
  decoder.finish(sinks);
  return print(sinks.log().events());
}

std::string whole(std::string_view body) {
  OpenaiChatDecoder decoder;
  LoggedChoice sinks;
  decoder.push_body(body, sinks);
  return print(sinks.log().events());
}

constexpr std::string_view kOneCall =
    "call 0 find id=a\nargs 0 {\"q\":1}\nend 0 complete\nfinish tool_calls\n";

TEST(OpenaiOddAnswers, makes_a_call_once_that_stands_in_function_call_as_well) {
  EXPECT_EQ(
      streamed(
          {R"({"choices":[{"delta":{"function_call":{"name":"find","arguments":""},"tool_calls":[{"index":0,"id":"a","function":{"name":"find","arguments":""}}]}}]})",
           R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}],"function_call":{"arguments":"{\"q\":"}}}]})",
           R"({"choices":[{"delta":{"function_call":{"arguments":"1}"},"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]})",
           R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})", "[DONE]"}),
      kOneCall);
  EXPECT_EQ(
      whole(
          R"({"choices":[{"message":{"function_call":{"name":"find","arguments":"{\"q\":1}"},"tool_calls":[{"id":"a","function":{"name":"find","arguments":"{\"q\":1}"}}]},"finish_reason":"tool_calls"}]})"),
      kOneCall);
}

TEST(OpenaiOddAnswers, takes_function_call_where_tool_calls_are_empty) {
  for (const std::string_view calls : {"[]", "null"}) {
    const std::string body =
        R"({"choices":[{"message":{"function_call":{"name":"find","arguments":"{\"q\":1}"},"tool_calls":)" +
        std::string(calls) + R"(},"finish_reason":"function_call"}]})";
    EXPECT_EQ(whole(body), "call 0 find\nargs 0 {\"q\":1}\nend 0 complete\nfinish tool_calls\n");
  }
}

TEST(OpenaiOddAnswers, reads_a_number_as_the_text_that_it_is) {
  EXPECT_EQ(streamed({R"({"choices":[{"delta":{"content":4}}]})",
                      R"({"choices":[{"delta":{"content":2}}]})",
                      R"({"choices":[{"delta":{"content":null}}]})",
                      R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"}),
            "text \"42\"\nfinish stop\n");
  EXPECT_EQ(whole(R"({"choices":[{"message":{"content":42},"finish_reason":"stop"}]})"),
            "text \"42\"\nfinish stop\n");
}

TEST(OpenaiOddAnswers, takes_an_error_event_without_words_for_an_error) {
  OpenaiChatDecoder decoder;
  LoggedChoice sinks;
  decoder.push({.data = R"({"choices":[{"delta":{"content":"Hi"}}]})"}, sinks);
  decoder.push({.event = "error", .data = ""}, sinks);
  decoder.push({.data = "[DONE]"}, sinks);
  decoder.finish(sinks);
  EXPECT_EQ(print(sinks.log().events()), "text \"Hi\"\nfinish upstream_error\n");
}

}  // namespace
}  // namespace callgate::upstream::openai_odd_answers_test
