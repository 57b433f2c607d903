#include "upstream/openai_chat/openai_chat_decoder.h"

#include <gtest/gtest.h>

#include "json/writer.h"
#include "upstream/decoder_testing.h"

namespace callgate::upstream::openai_chat_decoder_test {
namespace {

// Frames by what their only choice says; the events come back as text.
class Upstream {
 public:
  Upstream& choice(std::string_view json) {
    return frame("{\"choices\":[" + std::string(json) + "]}");
  }
  Upstream& calls(std::string_view entries) {
    return choice("{\"delta\":{\"tool_calls\":[" + std::string(entries) + "]}}");
  }
  Upstream& finish_reason(std::string_view word) {
    return choice("{\"delta\":{},\"finish_reason\":\"" + std::string(word) + "\"}");
  }
  Upstream& frame(std::string_view data) {
    decoder.push({.data = data}, sinks);
    return *this;
  }
  std::string done() {
    frame("[DONE]");
    return print(sinks.log().events());
  }
  std::string closed() {
    decoder.finish(sinks);
    return print(sinks.log().events());
  }
  std::uint32_t repairs(Repair repair) const {
    return decoder.repairs()[static_cast<std::size_t>(repair)];
  }

  OpenaiChatDecoder decoder;
  LoggedChoice sinks;
};

TEST(OpenaiDecoder, finishes_a_call_that_the_length_limit_cut) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"q\":"}})");
  upstream.finish_reason("length");
  EXPECT_EQ(upstream.done(), "call 0 f id=a\nargs 0 {\"q\":\nend 0 truncated\nfinish length\n");
}

TEST(OpenaiDecoder, takes_a_call_without_arguments_as_cut_only_if_the_turn_was_cut) {
  constexpr std::string_view kHeader =
      R"({"index":0,"id":"a","function":{"name":"f","arguments":""}})";
  Upstream ended, cut;
  ended.calls(kHeader).finish_reason("tool_calls");
  cut.calls(kHeader).finish_reason("length");
  EXPECT_EQ(ended.done(), "call 0 f id=a\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(cut.done(), "call 0 f id=a\nend 0 truncated\nfinish length\n");
}

TEST(OpenaiDecoder, marks_arguments_that_no_json_parser_takes) {
  struct Row {
    std::string_view arguments;
    std::string_view outcome;
  };
  for (const Row& row :
       {Row{"{\\\"q\\\":1}", "complete"}, Row{"[1]", "complete"}, Row{" {}\\n ", "complete"},
        Row{"null", "complete"}, Row{"{q}", "malformed"}, Row{"{}}", "complete"},
        Row{"{}x", "malformed"}, Row{"{\\\"a\\\":\\\"\\n\\\"}", "malformed"},
        Row{"tru", "truncated"}, Row{"[", "truncated"}, Row{"\\\"a", "truncated"}}) {
    Upstream upstream;
    upstream.calls("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"" +
                   std::string(row.arguments) + "\"}}");
    upstream.finish_reason("tool_calls");
    const std::string events = upstream.done();
    EXPECT_NE(events.find("end 0 " + std::string(row.outcome) + "\n"), std::string::npos)
        << row.arguments << "\n"
        << events;
  }
}

TEST(OpenaiDecoder, lets_fragments_leave_while_the_call_is_open) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"q\":\"x"}})");
  EXPECT_EQ(print(upstream.sinks.log().events()), "call 0 f id=a\nargs 0 {\"q\":\"x\n");
}

TEST(OpenaiDecoder, holds_a_later_call_back_until_the_earlier_one_closes) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{"}})");
  upstream.calls(R"({"index":1,"id":"b","function":{"name":"g","arguments":"[0]"}})");
  EXPECT_EQ(print(upstream.sinks.log().events()), "call 0 f id=a\nargs 0 {\n");
  upstream.calls(R"({"index":0,"function":{"arguments":"}"}})");
  EXPECT_EQ(print(upstream.sinks.log().events()),
            "call 0 f id=a\nargs 0 {}\nend 0 complete\ncall 1 g id=b\nargs 1 [0]\n");
}

TEST(OpenaiDecoder, fails_when_too_much_is_held_back) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{"}})");
  const std::string text(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 9; ++i) upstream.choice("{\"delta\":{\"content\":\"" + text + "\"}}");
  ASSERT_TRUE(upstream.decoder.error().has_value());
  EXPECT_TRUE(upstream.decoder.finished());
}

TEST(OpenaiDecoder, takes_a_second_value_after_a_repeated_header_for_another_call) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}})");
  upstream.calls(R"({"index":0,"function":{"name":"f","arguments":""}})");
  upstream.calls(R"({"index":0,"function":{"arguments":"{\"a\":2}"}})");
  upstream.finish_reason("tool_calls");
  EXPECT_EQ(upstream.done(),
            "call 0 f\nargs 0 {\"a\":1}\nend 0 complete\n"
            "call 1 f\nargs 1 {\"a\":2}\nend 1 complete\nfinish tool_calls\n");
  EXPECT_EQ(upstream.repairs(Repair::index_reused), 1u);
  EXPECT_EQ(upstream.repairs(Repair::id_missing), 2u);
}

TEST(OpenaiDecoder, counts_each_repair_once_per_call) {
  Upstream upstream;
  for (int i = 0; i < 5; ++i) {
    upstream.calls(R"({"id":"a","function":{"name":"f","arguments":"["}})");
  }
  upstream.finish_reason("stop");
  upstream.done();
  EXPECT_EQ(upstream.repairs(Repair::index_missing), 1u);
  EXPECT_EQ(upstream.repairs(Repair::id_repeated), 1u);
  EXPECT_EQ(upstream.repairs(Repair::finish_reason_wrong), 1u);
  EXPECT_EQ(upstream.repairs(Repair::id_missing), 0u);
}

TEST(OpenaiDecoder, reports_usage_only_when_it_changes) {
  Upstream upstream;
  upstream.frame(R"({"usage":{"prompt_tokens":1,"completion_tokens":1}})");
  upstream.frame(R"({"id":"x","usage":{"prompt_tokens":1,"completion_tokens":1}})");
  upstream.frame(R"({"usage":{"prompt_tokens":1,"completion_tokens":-4,"total_tokens":"x"}})");
  upstream.finish_reason("stop");
  EXPECT_EQ(upstream.done(),
            "usage prompt=1 completion=1 total=2\nusage prompt=1 completion=0 total=1\n"
            "finish stop\n");
}

TEST(OpenaiDecoder, counts_details_that_are_null_as_none) {
  Upstream upstream;
  upstream.frame(
      R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,)"
      R"("prompt_tokens_details":{"cached_tokens":null,"cache_write_tokens":null},)"
      R"("completion_tokens_details":{"reasoning_tokens":null},"prompt_cache_hit_tokens":null}})");
  ASSERT_TRUE(upstream.sinks.log().usage().has_value());
  EXPECT_EQ(*upstream.sinks.log().usage(),
            (Usage{.prompt_tokens = 9, .completion_tokens = 5, .total_tokens = 14}));
}

TEST(OpenaiDecoder, reports_usage_again_when_a_member_that_it_does_not_know_changes) {
  Upstream upstream;
  upstream.frame(R"({"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":1}})");
  upstream.frame(R"({"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":2}})");
  upstream.finish_reason("stop");
  upstream.done();
  const auto& events = upstream.sinks.log().events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].text, R"({"prompt_tokens":1,"completion_tokens":1,"cost":2})");
}

TEST(OpenaiDecoder, bounds_the_members_that_it_does_not_know) {
  Upstream upstream;
  const std::string image(std::size_t{5} << 20, 'A');
  for (int i = 0; i < 10; ++i) upstream.choice(R"({"delta":{"images":[")" + image + R"("]}})");
  upstream.finish_reason("stop");
  upstream.done();
  std::size_t bytes = 0;
  for (const LoggedEvent& event : upstream.sinks.log().events()) bytes += event.text.size();
  EXPECT_GT(bytes, std::size_t{30} << 20);
  EXPECT_LT(bytes, std::size_t{40} << 20);
}

TEST(OpenaiDecoder, reports_no_member_that_has_a_meaning_of_its_own) {
  Upstream upstream;
  upstream.frame(R"({"choices":{}})");
  upstream.frame(R"({"choices":[{"delta":7,"message":"m"}]})");
  upstream.choice(R"({"delta":{"function_call":"f","tool_calls":[{"function":"g","type":1}]}})");
  upstream.finish_reason("stop");
  EXPECT_EQ(upstream.done().find("field"), std::string::npos);
}

TEST(OpenaiDecoder, drops_fields_of_a_call_that_has_left) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{}"}})");
  upstream.calls(R"({"index":1,"id":"b","function":{"name":"g","arguments":"{}"}})");
  upstream.calls(R"({"index":0,"extra_content":1},{"index":1,"extra_content":2})");
  upstream.finish_reason("tool_calls");
  EXPECT_EQ(upstream.done(),
            "call 0 f id=a\nargs 0 {}\nend 0 complete\n"
            "call 1 g id=b\nfield 1 extra_content 2\nargs 1 {}\nend 1 complete\n"
            "finish tool_calls\n");
}

TEST(OpenaiDecoder, reports_fields_of_the_turn_once) {
  Upstream upstream;
  for (int i = 0; i < 3; ++i) {
    upstream.frame(R"({"system_fingerprint":"fp","service_tier":null,"choices":[]})");
  }
  upstream.finish_reason("stop");
  EXPECT_EQ(upstream.done(), "field system_fingerprint \"fp\"\nfinish stop\n");
}

TEST(OpenaiDecoder, says_why_a_turn_without_an_end_failed) {
  Upstream text, nothing, abandoned_call;
  text.choice(R"({"delta":{"content":"hi"}})");
  EXPECT_EQ(text.closed(), "text \"hi\"\nfinish upstream_error\n");
  EXPECT_EQ(text.decoder.error()->message, "upstream closed before the turn was finished");
  EXPECT_EQ(nothing.closed(), "finish upstream_error\n");
  EXPECT_EQ(nothing.decoder.error()->message, "upstream closed without an answer");
  abandoned_call.calls(R"({"index":0,"id":"a","function":{"name":"f"}})");
  EXPECT_EQ(abandoned_call.closed(), "call 0 f id=a\nend 0 truncated\nfinish upstream_error\n");
}

TEST(OpenaiDecoder, knows_when_only_usage_is_missing) {
  Upstream upstream;
  EXPECT_FALSE(upstream.decoder.complete());
  upstream.choice(R"({"delta":{"content":"hi"}})");
  EXPECT_FALSE(upstream.decoder.complete());
  upstream.finish_reason("stop");
  EXPECT_TRUE(upstream.decoder.complete());
  EXPECT_FALSE(upstream.decoder.finished());
}

TEST(OpenaiDecoder, waits_for_arguments_that_the_finish_reason_was_too_early_for) {
  Upstream upstream, cut;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"q\":"}})");
  upstream.finish_reason("tool_calls");
  EXPECT_FALSE(upstream.decoder.complete());
  upstream.calls(R"({"index":0,"function":{"arguments":"1}"}})");
  EXPECT_TRUE(upstream.decoder.complete());
  cut.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"q\":"}})");
  EXPECT_TRUE(cut.finish_reason("length").decoder.complete());
}

TEST(OpenaiDecoder, starts_a_call_as_soon_as_its_name_is_certain) {
  struct Row {
    std::string_view name;
    std::string_view events;  // after the name
    std::string_view after;   // after the first argument
  };
  const std::vector<ToolSpec> tools{{.name = "get"}, {.name = "get_weather"}, {.name = "find"}};
  for (const Row& row :
       {Row{"find", "call 0 find id=a\n", "call 0 find id=a\nargs 0 {\n"},
        Row{"get_weather", "call 0 get_weather id=a\n", "call 0 get_weather id=a\nargs 0 {\n"},
        Row{"functions.find", "call 0 find id=a\n", "call 0 find id=a\nargs 0 {\n"},
        Row{"get", "", "call 0 get id=a\nargs 0 {\n"}, Row{"get_wea", "", ""},
        Row{"other", "", "call 0 other id=a\nargs 0 {\n"}}) {
    OpenaiChatDecoder decoder(tools);
    LoggedChoice sinks;
    const auto push = [&](std::string_view function) {
      const std::string frame =
          "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\","
          "\"function\":" +
          std::string(function) + "}]}}]}";
      decoder.push({.data = frame}, sinks);
      return print(sinks.log().events());
    };
    EXPECT_EQ(push("{\"name\":\"" + std::string(row.name) + "\"}"), row.events) << row.name;
    EXPECT_EQ(push(R"({"arguments":"{"})"), row.after) << row.name;
  }
}

TEST(OpenaiDecoder, aborts_with_what_was_held_back) {
  Upstream upstream;
  upstream.calls(R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"q\":\"\\"}})");
  upstream.choice(R"({"delta":{"content":"hi"}})");
  upstream.decoder.abort(upstream.sinks);
  EXPECT_EQ(print(upstream.sinks.log().events()),
            "call 0 f id=a\nargs 0 {\"q\":\"\\\nend 0 truncated\ntext \"hi\"\n"
            "finish upstream_error\n");
  upstream.decoder.finish(upstream.sinks);
  EXPECT_EQ(upstream.sinks.log().reason(), FinishReason::upstream_error);
}

TEST(OpenaiDecoder, sees_what_changes_around_the_choices) {
  const auto chunk = [](std::string_view content, std::string_view rest) {
    return "{\"id\":\"x\", \"choices\": [{\"index\":0,\"delta\":{\"content\":\"" +
           std::string(content) + "\"}}]" + std::string(rest) + "}";
  };
  Upstream upstream;
  upstream.frame(chunk("a", R"(,"usage":null)"));
  upstream.frame(chunk("b", R"(,"usage":null)"));
  upstream.frame(chunk("c", R"(,"usage":{"total_tokens":3})"));
  upstream.frame(chunk("d", R"(,"usage":null)"));
  upstream.frame(chunk("e", R"(,"usage":null,"service_tier":"flex")"));
  upstream.frame(chunk("f", R"(,"usage":null,"service_tier":"flex")"));
  upstream.frame(chunk("g", R"(,"usage":null)"));
  upstream.frame("h");
  upstream.frame(chunk("i", R"(,"usage":null,"usage":null)"));
  upstream.frame(chunk("j", R"(,"error":"down")"));
  EXPECT_EQ(upstream.done(),
            "text \"abc\"\nusage prompt=0 completion=0 total=3\ntext \"d\"\n"
            "field service_tier \"flex\"\ntext \"efgi\"\n");
  EXPECT_EQ(upstream.decoder.error()->message, "down");
  EXPECT_EQ(upstream.repairs(Repair::frame_invalid), 1u);
}

// Words in a frame like the last one take a shorter way; a number that changes with every frame closes it.
TEST(OpenaiDecoder, takes_words_in_a_frame_like_the_last_for_the_same) {
  constexpr std::string_view kDeltas[] = {
      R"({"content":"a"})",
      R"({"content":"b \n"})",
      R"({"reasoning_content":"c"})",
      R"({"reasoning":"d"})",
      R"({"content":""})",
      R"({"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"q\":\""}}]})",
      R"({"tool_calls":[{"index":0,"function":{"arguments":"z"}}]})",
      R"({"content":"\ud83d"})",
      R"({"content":"\ude00"})"};
  std::uint32_t state = 1;
  for (int turn = 0; turn < 300; ++turn) {
    Upstream like, unlike;
    std::size_t kind = 0;
    for (int i = 0; i < 20; ++i) {
      state = state * 1664525 + 1013904223;
      if (state >> 30 == 0) kind = (state >> 16) % std::size(kDeltas);
      const std::string index = (state >> 20) % 8 == 0 ? "1" : "0";
      const std::string choices =
          ",\"choices\":[{\"index\":" + index + ",\"delta\":" + std::string(kDeltas[kind]) + "}]}";
      like.frame("{\"created\":1" + choices);
      unlike.frame("{\"created\":" + std::to_string(i + 1) + choices);
    }
    like.finish_reason("stop");
    unlike.finish_reason("stop");
    EXPECT_EQ(like.done(), unlike.done());
  }
}

TEST(OpenaiDecoder, stays_linear_with_many_calls) {
  Upstream upstream;
  for (int i = 0; i < 20'000; ++i) {
    std::string entry = "{\"id\":\"call_";
    json::append_integer(entry, i);
    upstream.calls(entry + "\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}");
  }
  upstream.finish_reason("tool_calls").frame("[DONE]");
  EXPECT_EQ(upstream.sinks.log().calls().size(), 20'000u);
}

}  // namespace
}  // namespace callgate::upstream::openai_chat_decoder_test
