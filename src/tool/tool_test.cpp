#include "tool/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/bounded_text.h"
#include "tool/builtin_tool.h"
#include "tool/tool_testing.h"

namespace callgate::tool::tool_test {
namespace {

using testing::HasSubstr;

class ThrowingTool : public Tool {
 public:
  using Tool::Tool;
  net::Task<ToolResult> perform(const ToolCall& call, net::Millis, CancelToken&) override {
    if (call.arguments.empty()) throw std::runtime_error("boom");
    ToolResult result;
    result.text = call.arguments;
    co_return result;
  }
};

TEST(Tool, never_throws_and_keeps_to_its_limit) {
  net::Loop loop;
  const ToolLimits limits{.result_bytes = 5};
  ThrowingTool tool(loop, {.name = "it"}, limits);
  const ToolResult thrown = run_tool(loop, tool, call_with(""));
  EXPECT_TRUE(thrown.is_error);
  EXPECT_EQ(thrown.text, "the t");
  const ToolResult cut = run_tool(loop, tool, call_with("1234ü6"));
  EXPECT_EQ(cut.text, "1234");
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.bytes, 7U);
}

TEST(Tool, does_not_begin_when_cancelled_before) {
  net::Loop loop;
  ThrowingTool tool(loop, {.name = "it"}, {});
  CancelToken cancel;
  cancel.cancel();
  ToolResult result;
  const auto task = [](Tool& it, CancelToken& token, ToolResult& out) -> net::Task<> {
    const ToolCall call = call_with("x");
    out = co_await it.run(call, net::kNever, token);
  };
  net::run_to_end(loop, task(tool, cancel, result));
  EXPECT_EQ(result.text, kCancelledWords);
}

TEST(CancelToken, runs_hooks_that_still_live_once) {
  CancelToken token;
  int runs = 0;
  std::optional<CancelToken::Hook> second;
  CancelToken::Hook first(token, [&] { ++runs, second.reset(); });
  second.emplace(token, [&] { runs += 100; });
  token.cancel();
  token.cancel();
  EXPECT_EQ(runs, 1);
  CancelToken::Hook late(token, [&] { runs += 10; });
  EXPECT_EQ(runs, 11);
}

TEST(BoundedText, is_valid_and_within_its_limit_at_every_cut) {
  const std::string all = "a\xFFü\xE2\x82€\xF0\x9F";
  for (std::size_t limit = 0; limit <= 24; ++limit) {
    BoundedText text(limit);
    for (const char c : all) text.append({&c, 1});
    EXPECT_EQ(text.bytes(), all.size());
    EXPECT_EQ(text.truncated(), limit < all.size());
    EXPECT_LE(text.take().size(), limit);
  }
}

TEST(BuiltinTool, tells_the_time) {
  EXPECT_EQ(*describe_time(1794802200, ""), R"({"utc":"2026-11-16T04:10:00Z","unix":1794802200})");
  EXPECT_THAT(*describe_time(1794802200, "+01:00"),
              HasSubstr(R"("local":"2026-11-16T05:10:00+01:00")"));
  EXPECT_THAT(*describe_time(1794802200, "-0330"),
              HasSubstr(R"("local":"2026-11-16T00:40:00-03:30")"));
  EXPECT_THAT(*describe_time(0, "+05:59"), HasSubstr("1970-01-01T05:59:00+05:59"));
  EXPECT_THAT(*describe_time(0, "+14:00"), HasSubstr("1970-01-01T14:00:00+14:00"));
  EXPECT_THAT(*describe_time(0, "-1234"), HasSubstr("1969-12-31T11:26:00-12:34"));
  EXPECT_THAT(*describe_time(0, "Z"), HasSubstr("1970-01-01T00:00:00+00:00"));
  for (const char* bad : {"Berlin", "+1", "+99:00", "01:00", "+01:75", "+01:60", "+15:00", "+",
                          "*0100", "+01:0/", "+010:00", "z"}) {
    EXPECT_THAT(describe_time(0, bad).error().message, HasSubstr("utc_offset")) << bad;
  }
  net::Loop loop;
  const auto tool = make_tool(loop, {.name = "now", .how = BuiltinToolConfig{"time"}});
  EXPECT_THAT(tool->spec().parameters.text, HasSubstr("utc_offset"));
  EXPECT_THAT(run_tool(loop, *tool, call_with("")).text, HasSubstr("\"unix\":"));
  EXPECT_TRUE(run_tool(loop, *tool, call_with(R"({"utc_offset":"x"})")).is_error);
  EXPECT_FALSE(make_source(loop, {.name = "x", .how = BuiltinToolConfig{"nothing"}}).has_value());
}

}  // namespace
}  // namespace callgate::tool::tool_test
