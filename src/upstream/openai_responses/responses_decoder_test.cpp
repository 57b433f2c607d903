#include "upstream/openai_responses/responses_decoder.h"

#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"

namespace callgate::upstream::responses_decoder_test {
namespace {

class Upstream {
 public:
  // `members` follow the type.
  Upstream& event(std::string_view type, std::string_view members = "") {
    std::string data = R"({"type":"response.)" + std::string(type) + "\"";
    if (!members.empty()) data.append(",").append(members);
    decoder.push({.data = data + "}"}, sinks);
    return *this;
  }
  Upstream& started(std::string_view item, std::string_view place = "") {
    return event("output_item.added", std::string(place) + "\"item\":" + std::string(item));
  }
  Upstream& ended(std::string_view item, std::string_view place = "") {
    return event("output_item.done", std::string(place) + "\"item\":" + std::string(item));
  }
  std::string completed(std::string_view output = "") {
    event("completed",
          R"("response":{"status":"completed","output":[)" + std::string(output) + "]}");
    return print(sinks.log().events());
  }
  std::string closed() {
    decoder.finish(sinks);
    return print(sinks.log().events());
  }

  ResponsesDecoder decoder;
  LoggedChoice sinks;
};

constexpr std::string_view kFind =
    R"({"type":"function_call","id":"fc_1","call_id":"a","name":"find","arguments":"{}"})";

TEST(ResponsesDecoder, tells_calls_apart_that_share_every_index_or_have_none) {
  for (const std::string_view place : {"\"output_index\":0,", ""}) {
    Upstream upstream;
    for (const std::string_view id : {"a", "b"}) {
      const std::string item = R"({"type":"function_call","call_id":")" + std::string(id) +
                               R"(","name":"f","arguments":")";
      upstream.started(item + "\"}", place);
      upstream.event("function_call_arguments.delta",
                     std::string(place) + R"("delta":"{\"n\":1}")");
      upstream.ended(item + R"({\"n\":1}"})", place);
    }
    EXPECT_EQ(upstream.completed(),
              "call 0 f id=a\nargs 0 {\"n\":1}\nend 0 complete\n"
              "call 1 f id=b\nargs 1 {\"n\":1}\nend 1 complete\nfinish tool_calls\n");
  }
}

TEST(ResponsesDecoder, never_makes_a_call_twice) {
  Upstream upstream;
  upstream.ended(kFind, "\"output_index\":0,").ended(kFind, "\"output_index\":4,");
  upstream.started(kFind);
  // Servers that mint other ids for the last event mean the same call.
  EXPECT_EQ(
      upstream.completed(
          R"({"type":"function_call","id":"x","call_id":"y","name":"find","arguments":"{}"})"),
      "call 0 find id=a\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
}

TEST(ResponsesDecoder, believes_the_deltas_where_the_end_says_something_else) {
  Upstream upstream;
  upstream.event("output_text.delta", R"("item_id":"m","delta":"Hello")");
  upstream.event("output_text.done", R"("item_id":"m","text":"Help me")");
  upstream.ended(
      R"({"type":"message","id":"m","content":[{"type":"output_text","text":"Help!!"}]})");
  EXPECT_EQ(upstream.completed(), "text \"Hello\"\nfinish stop\n");
}

TEST(ResponsesDecoder, takes_each_text_from_the_first_place_that_has_it) {
  const std::string item =
      R"({"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]})";
  const std::string done = R"("item_id":"m","content_index":0,"text":"Hi")";
  Upstream part, whole, last, silent;
  EXPECT_EQ(part.event("output_text.done", done).ended(item).completed(item),
            "text \"Hi\"\nfinish stop\n");
  EXPECT_EQ(whole.ended(item).event("output_text.done", done).completed(item),
            "text \"Hi\"\nfinish stop\n");
  EXPECT_EQ(last.completed(item), "text \"Hi\"\nfinish stop\n");
  EXPECT_EQ(silent.completed(), "finish stop\n");
}

TEST(ResponsesDecoder, does_not_take_equal_deltas_for_repeated_frames) {
  const std::string_view numbers[] = {"", R"("sequence_number":0,)", R"("sequence_number":-1,)"};
  for (const std::string_view number : numbers) {
    Upstream upstream;
    for (int i = 0; i < 3; ++i) {
      upstream.event("output_text.delta", std::string(number) + R"("item_id":"m","delta":"ha")");
    }
    EXPECT_EQ(upstream.completed(), "text \"hahaha\"\nfinish stop\n") << number;
  }
}

TEST(ResponsesDecoder, ends_a_stream_that_lacks_its_end) {
  Upstream text, call, silent;
  text.event("output_text.delta", R"("delta":"x")");
  EXPECT_EQ(text.closed(), "text \"x\"\nfinish upstream_error\n");
  EXPECT_EQ(text.decoder.error()->message, "upstream closed before the turn was finished");
  EXPECT_EQ(call.ended(kFind).closed(),
            "call 0 find id=a\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(silent.closed(), "finish upstream_error\n");
  EXPECT_EQ(silent.decoder.error()->message, "upstream closed without an answer");
}

TEST(ResponsesDecoder, takes_done_for_the_end_that_the_response_states) {
  Upstream upstream, failed;
  upstream.event("output_text.delta", R"("delta":"x")");
  upstream.event("done", R"("response":{"status":"completed","output":[]})");
  EXPECT_EQ(upstream.closed(), "text \"x\"\nfinish stop\n");
  failed.event("done", R"("response":{"status":"failed","output":[],"error":{"message":"m"}})");
  EXPECT_TRUE(failed.decoder.error().has_value());
}

TEST(ResponsesDecoder, finishes_with_the_response) {
  Upstream upstream;
  upstream.event("output_text.delta", R"("delta":"x")");
  EXPECT_FALSE(upstream.decoder.complete());
  upstream.completed();
  EXPECT_TRUE(upstream.decoder.finished() && upstream.decoder.complete());
  upstream.event("failed", R"("response":{"error":{"message":"late"}})");
  EXPECT_FALSE(upstream.decoder.error().has_value());
}

}  // namespace
}  // namespace callgate::upstream::responses_decoder_test
