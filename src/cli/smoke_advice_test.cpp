#include "cli/smoke_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "callgate/dialect.h"
#include "contract/smoke_request.h"
#include "dialect/render/render.h"
#include "json/writer.h"

namespace callgate::cli::smoke_advice_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// The answer of a server that passes text on, in pieces of three bytes or more.
std::string stream_of(std::string_view text) {
  std::string body;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(at + 3, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    body += R"(data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",)"
            R"("choices":[{"index":0,"finish_reason":null,"delta":{"content":)";
    json::append_string(body, text.substr(at, end - at));
    body += "}}]}\n\n";
    at = end;
  }
  return body + R"(data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
                "\n\ndata: [DONE]\n\n";
}

std::string call_in(std::string_view dialect) {
  const CallRecord call{.id = "call_1",
                        .name = contract::smoke_tool().name,
                        .arguments = R"({"city":"Paris"})",
                        .extra = {}};
  std::string text;
  EXPECT_TRUE(dialect::render_calls(dialect, {&call, 1}, text)) << dialect;
  return text;
}

TEST(SmokeAdvice, recognises_the_call_of_every_dialect) {
  for (const Dialect* dialect : dialect::all()) {
    if (!dialect::writes_calls_as_text(dialect->name)) continue;
    const std::string text = call_in(dialect->name);
    EXPECT_THAT(recognise_calls(stream_of(text), "m"), Contains(dialect->name)) << text;
  }
}

TEST(SmokeAdvice, names_the_likeliest_dialect_first) {
  EXPECT_EQ(recognise_calls(stream_of(call_in("qwen3_coder")), "m").front(), "qwen3_coder");
  EXPECT_EQ(recognise_calls(stream_of(call_in("hermes")), "m").front(), "hermes");
  EXPECT_EQ(recognise_calls(stream_of(call_in("granite4")), "ibm/granite-4-h").front(), "granite4");
  EXPECT_EQ(recognise_calls(stream_of(call_in("kimi_k2")), "m").front(), "kimi_k2");
  // A name stands for another format than the one that was written.
  EXPECT_EQ(recognise_calls(stream_of(call_in("qwen3_coder")), "Qwen/Qwen3-8B").front(),
            "qwen3_coder");
  EXPECT_EQ(recognise_calls(stream_of("<think>Paris.</think>\n" + call_in("glm47")), "m").front(),
            "glm47");
}

TEST(SmokeAdvice, recognises_nothing_in_plain_text_and_in_rubbish) {
  EXPECT_THAT(recognise_calls(stream_of("It rains in Paris."), "m"), IsEmpty());
  EXPECT_THAT(recognise_calls("\xFF\x00{", "m"), IsEmpty());
  EXPECT_THAT(recognise_calls("", "m"), IsEmpty());
  EXPECT_EQ(advice_on_text({}), "");
}

TEST(SmokeAdvice, says_how_other_servers_read_the_dialect) {
  const std::string coder = advice_on_text({"qwen3_coder"});
  EXPECT_THAT(coder, HasSubstr("this is qwen3_coder: start vLLM with `--enable-auto-tool-choice "
                               "--tool-call-parser qwen3_coder`"));
  EXPECT_THAT(coder, HasSubstr("or SGLang with `--tool-call-parser qwen3_coder`"));
  EXPECT_THAT(coder, HasSubstr("or put Callgate in front, with `dialect = \"qwen3_coder\"`"));
  EXPECT_THAT(advice_on_text({"harmony"}), HasSubstr("--tool-call-parser openai`"));
  EXPECT_THAT(advice_on_text({"dots"}), HasSubstr("this is dots: start SGLang with"));
  EXPECT_THAT(advice_on_text({"generic_xml"}), HasSubstr("this is generic_xml: put Callgate"));
  EXPECT_THAT(advice_on_text({"hermes", "granite4", "xlam"}),
              HasSubstr("It can also be read as granite4 and xlam"));
}

TEST(SmokeAdvice, knows_parsers_of_dialects_that_exist) {
  std::string_view last;
  for (const ServerParsers& row : server_parsers()) {
    EXPECT_NE(dialect::find(row.dialect), nullptr) << row.dialect;
    EXPECT_LT(last, row.dialect) << "in alphabetical order";
    EXPECT_FALSE(row.vllm.empty() && row.sglang.empty()) << row.dialect;
    last = row.dialect;
  }
}

TEST(SmokeAdvice, says_what_to_do_about_servers_that_refuse_tools) {
  constexpr std::string_view kStock =
      R"({"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and )"
      R"(--tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}})";
  EXPECT_THAT(advice_on_refusal(400, kStock, "Qwen/Qwen3-Coder-30B"),
              HasSubstr("--tool-call-parser qwen3_coder`"));
  EXPECT_THAT(advice_on_refusal(400, kStock, "mine"), HasSubstr("--tool-call-parser NAME`"));
  EXPECT_THAT(advice_on_refusal(400, kStock, "mine"), HasSubstr("`tools = \"text\"`"));
  EXPECT_THAT(
      advice_on_refusal(400, R"({"error":"gemma3:4b does not support tools"})", "gemma3:4b"),
      HasSubstr("`tools = \"prompt\"`"));
  EXPECT_EQ(advice_on_refusal(500, kStock, "mine"), "");
  EXPECT_EQ(advice_on_refusal(400, "no such field", "mine"), "");
}

}  // namespace
}  // namespace callgate::cli::smoke_advice_test
