#include "upstream/anthropic_messages/anthropic_decoder.h"

#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"

namespace callgate::upstream::anthropic_decoder_test {
namespace {

class Upstream {
 public:
  Upstream& frame(std::string_view data, std::string_view event = {}) {
    decoder.push({.event = event, .data = data}, sinks);
    return *this;
  }
  Upstream& start(std::string_view index, std::string_view block) {
    return frame("{\"type\":\"content_block_start\"," + std::string(index) +
                 "\"content_block\":" + std::string(block) + "}");
  }
  Upstream& delta(std::string_view index, std::string_view delta) {
    return frame("{\"type\":\"content_block_delta\"," + std::string(index) +
                 "\"delta\":" + std::string(delta) + "}");
  }
  Upstream& input(std::string_view index, std::string_view escaped) {
    return delta(
        index, "{\"type\":\"input_json_delta\",\"partial_json\":\"" + std::string(escaped) + "\"}");
  }
  Upstream& stop(std::string_view index) {
    return frame("{" + std::string(index) + "\"type\":\"content_block_stop\"}");
  }
  Upstream& ends_with(std::string_view reason) {
    return frame("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + std::string(reason) +
                 "\"}}");
  }
  std::string ended() {
    frame(R"({"type":"message_stop"})");
    return print(sinks.log().events());
  }
  std::string closed() {
    decoder.finish(sinks);
    return print(sinks.log().events());
  }
  std::uint32_t repairs(Repair repair) const {
    return decoder.repairs()[static_cast<std::size_t>(repair)];
  }

  AnthropicDecoder decoder;
  LoggedChoice sinks;
};

constexpr std::string_view k0 = "\"index\":0,";
constexpr std::string_view k1 = "\"index\":1,";
constexpr std::string_view kFind = R"({"type":"tool_use","id":"a","name":"find","input":{}})";
constexpr std::string_view kAdd = R"({"type":"tool_use","id":"b","name":"add","input":{}})";

TEST(AnthropicDecoder, puts_calls_that_interleave_in_order) {
  Upstream upstream;
  upstream.start(k0, kFind).start(k1, kAdd).input(k1, "{}").input(k0, "{\\\"q\\\":");
  upstream.input(k0, "1}").stop(k1).stop(k0).ends_with("tool_use");
  EXPECT_EQ(upstream.ended(),
            "call 0 find id=a\nargs 0 {\"q\":1}\nend 0 complete\n"
            "call 1 add id=b\nargs 1 {}\nend 1 complete\nfinish tool_calls\n");
}

TEST(AnthropicDecoder, tells_calls_apart_that_share_an_index_or_have_none) {
  for (const std::string_view index : {k0, std::string_view()}) {
    Upstream upstream;
    upstream.start(index, kFind).stop(index);
    upstream.start(index, kAdd).input(index, "{\\\"b\\\":2}").stop(index);
    upstream.ends_with("tool_use");
    EXPECT_EQ(upstream.ended(),
              "call 0 find id=a\nargs 0 {}\nend 0 complete\n"
              "call 1 add id=b\nargs 1 {\"b\":2}\nend 1 complete\nfinish tool_calls\n");
    EXPECT_EQ(upstream.repairs(Repair::index_missing), index.empty() ? 2u : 0u);
  }
}

TEST(AnthropicDecoder, takes_input_that_came_with_the_start_unless_deltas_follow) {
  constexpr std::string_view kEarly =
      R"({"type":"tool_use","id":"a","name":"find","input":{"q": 1}})";
  constexpr std::string_view kWhole =
      "call 0 find id=a\nargs 0 {\"q\": 1}\nend 0 complete\nfinish tool_calls\n";
  Upstream early, endless, repeated;
  early.start(k0, kEarly).stop(k0).ends_with("tool_use");
  EXPECT_EQ(early.ended(), kWhole);
  EXPECT_EQ(early.repairs(Repair::arguments_object), 1u);
  endless.start(k0, kEarly).ends_with("tool_use");
  EXPECT_EQ(endless.ended(), kWhole);
  repeated.start(k0, kEarly).input(k0, "{\\\"q\\\": 1}").stop(k0).ends_with("tool_use");
  EXPECT_EQ(repeated.ended(), kWhole);
  EXPECT_EQ(repeated.repairs(Repair::arguments_object), 0u);
}

TEST(AnthropicDecoder, takes_a_call_without_input_as_cut_only_if_the_turn_was_cut) {
  Upstream ended, cut, followed;
  ended.start(k0, kFind).input(k0, "").stop(k0).ends_with("tool_use");
  EXPECT_EQ(ended.ended(), "call 0 find id=a\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  cut.start(k0, kFind).stop(k0).ends_with("max_tokens");
  EXPECT_EQ(cut.ended(), "call 0 find id=a\nend 0 truncated\nfinish length\n");
  followed.start(k0, kFind).stop(k0).start(k1, R"({"type":"text","text":"so"})");
  EXPECT_EQ(print(followed.sinks.log().events()),
            "call 0 find id=a\nargs 0 {}\nend 0 complete\ntext \"so\"\n");
}

TEST(AnthropicDecoder, signs_a_block_of_thinking_with_its_own_signature) {
  Upstream upstream;
  upstream.start(k0, R"({"type":"thinking","thinking":""})");
  upstream.delta(k0, R"({"type":"thinking_delta","thinking":"Hm."})");
  upstream.delta(k0, R"({"type":"signature_delta","signature":"own"})");
  upstream.delta(k1, R"({"type":"signature_delta","signature":"other"})");
  upstream.stop(k0).ends_with("end_turn");
  const std::string events = upstream.ended();
  EXPECT_NE(events.find(R"("signature":"own")"), std::string::npos) << events;
  EXPECT_EQ(events.find("other"), std::string::npos) << events;
}

TEST(AnthropicDecoder, tells_blocks_without_a_type_by_what_they_have) {
  AnthropicDecoder decoder;
  LoggedChoice sinks;
  decoder.push_body(
      R"({"type":"message","content":["Hel",{"text":"lo."},{"id":"a","name":"find","input":{"q":1}}],"stop_reason":"tool_use"})",
      sinks);
  EXPECT_EQ(print(sinks.log().events()),
            "text \"Hello.\"\ncall 0 find id=a\nargs 0 {\"q\":1}\nend 0 complete\n"
            "finish tool_calls\n");
}

TEST(AnthropicDecoder, survives_frames_in_any_order_and_twice) {
  Upstream upstream;
  upstream.input(k0, "{\\\"q\\\":1}").start(k0, kFind).start(k0, kFind).stop(k0).stop(k0);
  upstream.stop("\"index\":99,").delta("\"index\":70000,", R"({"type":"text_delta","text":"x"})");
  upstream.ends_with("tool_use").ends_with("tool_use");
  EXPECT_EQ(upstream.ended(),
            "call 0 find id=a\nargs 0 {\"q\":1}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_TRUE(upstream.decoder.finished());
}

TEST(AnthropicDecoder, knows_every_stop_reason) {
  struct Row {
    std::string_view word;
    std::string_view reason;
    std::uint32_t wrong;
  };
  for (const Row& row : std::initializer_list<Row>{{"end_turn", "stop", 0},
                                                   {"stop_sequence", "stop", 0},
                                                   {"pause_turn", "stop", 0},
                                                   {"max_tokens", "length", 0},
                                                   {"model_context_window_exceeded", "length", 0},
                                                   {"refusal", "content_filter", 0},
                                                   {"tool_use", "stop", 1}}) {
    Upstream upstream;
    upstream.delta(k0, R"({"type":"text_delta","text":"x"})").ends_with(row.word);
    EXPECT_TRUE(upstream.decoder.complete());
    EXPECT_EQ(upstream.ended(), "text \"x\"\nfinish " + std::string(row.reason) + "\n") << row.word;
    EXPECT_EQ(upstream.repairs(Repair::finish_reason_wrong), row.wrong);
  }
}

TEST(AnthropicDecoder, fails_with_a_stop_reason_that_says_so) {
  Upstream upstream;
  upstream.ends_with("error");
  ASSERT_TRUE(upstream.decoder.error().has_value());
  EXPECT_EQ(upstream.closed(), "finish upstream_error\n");
}

TEST(AnthropicDecoder, adds_up_the_counts_of_all_frames) {
  Upstream upstream;
  upstream.frame(
      R"({"type":"message_start","message":{"usage":{"input_tokens":10,)"
      R"("cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}})");
  upstream.frame(
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":)"
      R"({"input_tokens":null,"output_tokens":40,"output_tokens_details":{"thinking_tokens":7}}})");
  upstream.frame(R"({"type":"message_stop"})");
  const Usage wanted{.prompt_tokens = 115,
                     .completion_tokens = 40,
                     .total_tokens = 155,
                     .cached_tokens = 100,
                     .cache_write_tokens = 5,
                     .reasoning_tokens = 7};
  EXPECT_EQ(upstream.sinks.log().usage(), wanted);
}

TEST(AnthropicDecoder, ends_a_stream_that_lacks_its_end) {
  Upstream text, call, silent, unsaid;
  text.delta(k0, R"({"type":"text_delta","text":"x"})");
  EXPECT_EQ(text.closed(), "text \"x\"\nfinish upstream_error\n");
  EXPECT_EQ(text.decoder.error()->message, "upstream closed before the turn was finished");
  call.start(k0, kFind).input(k0, "{}");
  EXPECT_EQ(call.closed(), "call 0 find id=a\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(silent.closed(), "finish upstream_error\n");
  EXPECT_EQ(silent.decoder.error()->message, "upstream closed without an answer");
  unsaid.delta(k0, R"({"type":"text_delta","text":"x"})");
  EXPECT_EQ(unsaid.frame("[DONE]").closed(), "text \"x\"\nfinish stop\n");
  EXPECT_EQ(unsaid.repairs(Repair::finish_reason_missing), 1u);
}

TEST(AnthropicDecoder, takes_frames_by_their_event_where_they_name_no_type) {
  Upstream upstream;
  upstream.frame(R"({"index":0,"delta":{"text":"x"}})", "content_block_delta");
  upstream.frame("{}", "ping").frame("[]", "ping").frame(R"({"type":"new_event","delta":{}})");
  EXPECT_EQ(upstream.repairs(Repair::frame_invalid), 1u);
  upstream.frame("not JSON", "error");
  ASSERT_TRUE(upstream.decoder.error().has_value());
  EXPECT_EQ(upstream.decoder.error()->message, "upstream answered: not JSON");
}

}  // namespace
}  // namespace callgate::upstream::anthropic_decoder_test
