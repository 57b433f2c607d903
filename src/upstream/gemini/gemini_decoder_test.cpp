#include "upstream/gemini/gemini_decoder.h"

#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"

namespace callgate::upstream::gemini_decoder_test {
namespace {

class Upstream {
 public:
  Upstream& part(std::string_view json, std::string_view finish = {}) {
    std::string frame = R"({"candidates":[{"content":{"parts":[)" + std::string(json) + "]}";
    if (!finish.empty()) frame += ",\"finishReason\":\"" + std::string(finish) + "\"";
    decoder.push({.data = frame + "}]}"}, sinks);
    return *this;
  }
  Upstream& call(std::string_view json, std::string_view finish = {}) {
    return part(R"({"functionCall":{)" + std::string(json) + "}}", finish);
  }
  std::string closed() {
    decoder.finish(sinks);
    return print(sinks.log().events());
  }

  GeminiDecoder decoder;
  LoggedChoice sinks;
};

// The arguments that these pieces amount to.
std::string arguments_of(std::initializer_list<std::string_view> pieces) {
  GeminiArguments arguments;
  GeminiFrameReader reader;
  std::string out;
  for (const std::string_view piece : pieces) {
    const std::string frame =
        R"({"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[)" +
        std::string(piece) + "]}}]}}]}";
    EXPECT_TRUE(reader.read(frame)) << frame;
    for (const GeminiArgument& argument :
         reader.frame().candidates.begin()->parts.begin()->pieces) {
      arguments.add(argument, out);
    }
  }
  arguments.finish(out);
  return out;
}

TEST(GeminiArguments, become_one_object_in_the_order_of_their_pieces) {
  EXPECT_EQ(arguments_of({}), "{}");
  EXPECT_EQ(arguments_of({R"({"jsonPath":"$.a","stringValue":"x\"","willContinue":true})",
                          R"({"jsonPath":"$.a","willContinue":true})",
                          R"({"jsonPath":"$.a","stringValue":"é"})",
                          R"({"jsonPath":"$.b.c[0][1].d","numberValue":12345678901234567890})",
                          R"({"jsonPath":"$.b.c[0][1].e","boolValue":false})",
                          R"({"jsonPath":"$.b.c[1]","nullValue":"NULL_VALUE"})"}),
            R"({"a":"x\"é","b":{"c":[[null,{"d":12345678901234567890,"e":false}],null]}})");
}

TEST(GeminiArguments, take_every_form_of_a_path) {
  EXPECT_EQ(
      arguments_of(
          {R"({"jsonPath":"city","numberValue":1})", R"({"jsonPath":"at.x[0]","numberValue":2})",
           R"({"jsonPath":"$['a.b'][\"c\\\"]\"]","numberValue":3})",
           R"({"jsonPath":"$[4]","numberValue":4})", R"({"jsonPath":"$..x","numberValue":5})",
           R"({"jsonPath":"$x","numberValue":8})", R"({"jsonPath":"$['y']z","numberValue":9})",
           R"({"jsonPath":"","numberValue":"NaN"})", R"({"numberValue":6})"}),
      R"({"city":1,"at":{"x":[2]},"a.b":{"c\"]":3},"4":4,"$..x":5,"$x":8,"$['y']z":9,"":"NaN","":6})");
}

TEST(GeminiArguments, stay_within_limits_whatever_the_path) {
  const std::string deep = "$" + std::string(400, '.') + "x";
  std::string nested = "$";
  for (int i = 0; i < 100; ++i) nested += ".a";
  const auto piece = [](std::string_view path) {
    return R"({"jsonPath":")" + std::string(path) + R"(","numberValue":1})";
  };
  EXPECT_EQ(arguments_of({piece(deep)}), "{\"" + deep + "\":1}");
  EXPECT_EQ(arguments_of({piece(nested)}), "{\"" + nested + "\":1}");
  EXPECT_EQ(arguments_of({piece("$.a[99999999]"), piece("$.a[18446744073709551616]")}),
            R"({"a":[1],"$.a[18446744073709551616]":1})");
}

TEST(GeminiArguments, write_again_what_was_left_already) {
  EXPECT_EQ(arguments_of({R"({"jsonPath":"$.a.x","numberValue":1})",
                          R"({"jsonPath":"$.b","stringValue":"t","willContinue":true})",
                          R"({"jsonPath":"$.a.y","numberValue":2})",
                          R"({"jsonPath":"$.a[0]","numberValue":3})"}),
            R"({"a":{"x":1},"b":"t","a":{"y":2},"a":[3]})");
}

TEST(GeminiDecoder, tells_calls_in_pieces_apart) {
  Upstream upstream;
  upstream.call(R"("name":"find","willContinue":true)");
  upstream.call(
      R"("name":"find","partialArgs":[{"jsonPath":"$.q","numberValue":1}],"willContinue":true)");
  upstream.call(R"("name":"find","willContinue":true)");  // no pieces: another call
  upstream.call(R"("name":"add","id":"b","args":{},"willContinue":true)");
  upstream.call(R"("id":"b","args":{"a":2})");
  upstream.call(R"("willContinue":false)").call("");
  upstream.part(R"({"text":"so"})", "STOP");
  EXPECT_EQ(
      upstream.closed(),
      "call 0 find\nargs 0 {\"q\":1}\nend 0 complete\ncall 1 find\nargs 1 {}\nend 1 complete\n"
      "call 2 add id=b\nargs 2 {\"a\":2}\nend 2 complete\ntext \"so\"\nfinish tool_calls\n");
  EXPECT_EQ(upstream.decoder.repairs(), RepairCounts{});
}

TEST(GeminiDecoder, survives_calls_that_lack_something) {
  Upstream nameless, odd;
  nameless.call(R"("args":{"q":1})").call(R"("name":"find","args":"text")").part("7", "STOP");
  EXPECT_EQ(nameless.closed(), "finish upstream_error\n");
  EXPECT_EQ(nameless.decoder.error()->message, "upstream made a call without a name");
  odd.call(R"("name":7,"id":[],"args":null)").part(R"({"functionCall":[]},{"text":true})");
  EXPECT_EQ(odd.closed(), "finish upstream_error\n");
}

TEST(GeminiDecoder, is_complete_once_a_finish_reason_came) {
  Upstream upstream;
  EXPECT_FALSE(upstream.decoder.complete());
  upstream.part(R"({"text":"x"})");
  EXPECT_FALSE(upstream.decoder.complete());
  upstream.part(R"({"text":""})", "STOP");
  EXPECT_TRUE(upstream.decoder.complete());
  EXPECT_FALSE(upstream.decoder.finished());
  EXPECT_EQ(upstream.closed(), "text \"x\"\nfinish stop\n");
}

TEST(GeminiDecoder, knows_every_finish_reason) {
  struct Row {
    std::string_view word;
    std::string_view reason;
  };
  for (const Row& row : std::initializer_list<Row>{{"STOP", "stop"},
                                                   {"MAX_TOKENS", "length"},
                                                   {"LANGUAGE", "content_filter"},
                                                   {"SPII", "content_filter"},
                                                   {"IMAGE_SAFETY", "content_filter"},
                                                   {"NO_IMAGE", "stop"},
                                                   {"TOO_MANY_TOOL_CALLS", "upstream_error"}}) {
    Upstream upstream;
    upstream.part(R"({"text":"x"})", row.word);
    EXPECT_EQ(upstream.closed(), "text \"x\"\nfinish " + std::string(row.reason) + "\n")
        << row.word;
    EXPECT_EQ(upstream.decoder.error().has_value(), row.reason == "upstream_error");
  }
}

TEST(GeminiDecoder, gives_up_when_too_much_is_held_back) {
  Upstream upstream;
  upstream.call(R"("args":{"q":1})");
  const std::string text = R"({"text":")" + std::string(std::size_t{1} << 20, 'x') + R"("})";
  for (int i = 0; i < 9; ++i) upstream.part(text);
  ASSERT_TRUE(upstream.decoder.error().has_value());
  EXPECT_EQ(upstream.decoder.error()->code, ErrorCode::upstream_failed);
  EXPECT_EQ(upstream.decoder.error()->message,
            "upstream wrote too much after a call that it did not end");
}

}  // namespace
}  // namespace callgate::upstream::gemini_decoder_test
