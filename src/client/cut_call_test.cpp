#include "client/cut_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "client/protocol.h"

namespace callgate::client::cut_call_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kArguments = R"({"city":)";

// A turn with a text and a call that was cut short, as a stream of that protocol.
std::string stream_of(std::string_view protocol, FinishReason reason) {
  Request request;
  request.model = "m";
  request.stream = true;
  const ResponseIdentity identity{.id = "x_1", .model = "m", .created = 1};
  const auto encoder = find(protocol)->make_encoder(request, identity);
  std::string out;
  encoder->bind(out);
  EventSink& sink = encoder->choice(0);
  sink.accept(TextDelta{"Hi."});
  sink.accept(CallStarted{.call = 0, .name = "look", .native_id = "call_1"});
  sink.accept(ArgumentsDelta{.call = 0, .bytes = kArguments});
  sink.accept(CallFinished{.call = 0, .outcome = CallOutcome::truncated});
  sink.accept(UsageReported{});
  sink.accept(TurnFinished{reason});
  if (reason == FinishReason::upstream_error) {
    encoder->fail({.code = ErrorCode::upstream_failed, .message = "it broke"});
  } else {
    encoder->finish({});
  }
  return out;
}

struct Protocols {
  std::string_view name;
  std::string_view end;  // what says that the call is over
};
constexpr Protocols kProtocols[] = {
    {"anthropic_messages", R"({"type":"content_block_stop","index":1})"},
    {"openai_responses", "event: response.function_call_arguments.done"},
    {"openai_responses", R"("type":"function_call","status":"incomplete")"},
    {"gemini", "functionCall"},
    {"ollama", "tool_calls"},
};

TEST(CutCall, never_ends_where_the_turn_failed) {
  for (const auto& [name, end] : kProtocols) {
    const std::string out = stream_of(name, FinishReason::upstream_error);
    EXPECT_THAT(out, Not(HasSubstr(std::string(end)))) << name;
    EXPECT_THAT(out, HasSubstr("it broke")) << name;
  }
}

TEST(CutCall, ends_where_the_turn_ended) {
  for (const auto& [name, end] : kProtocols) {
    EXPECT_THAT(stream_of(name, FinishReason::length), HasSubstr(std::string(end))) << name;
  }
}

TEST(CutCall, ends_before_what_follows) {
  using Fate = CutCall::Fate;
  CutCall call;
  EXPECT_EQ(call.before(TextDelta{"a"}), Fate::open);
  call.hold();
  EXPECT_EQ(call.before(UsageReported{}), Fate::open);
  EXPECT_EQ(call.before(TextDelta{"a"}), Fate::ended);
  EXPECT_EQ(call.before(TurnFinished{FinishReason::upstream_error}), Fate::open);
  call.hold();
  EXPECT_EQ(call.before(TurnFinished{FinishReason::upstream_error}), Fate::lost);
}

}  // namespace
}  // namespace callgate::client::cut_call_test
