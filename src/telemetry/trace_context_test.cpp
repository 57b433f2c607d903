#include "telemetry/trace_context.h"

#include <gtest/gtest.h>

namespace callgate::telemetry::trace_context_test {
namespace {

constexpr std::string_view kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, reads_and_writes_what_the_standard_shows) {
  const auto context = parse_trace_context(kGood, "congo=t61rcWkgMzE, rojo=00f067aa0ba902b7");
  ASSERT_TRUE(context);
  EXPECT_EQ(to_hex(context->trace), kTrace);
  EXPECT_EQ(to_hex(context->span), "00f067aa0ba902b7");
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(context->state, "congo=t61rcWkgMzE, rojo=00f067aa0ba902b7");
  EXPECT_EQ(to_traceparent(*context), kGood);
}

TEST(TraceContext, takes_nothing_that_is_not_right_to_the_letter) {
  const std::string_view rows[] = {
      "",
      "00",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",      // no flags
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",    // one digit
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",  // version 00 says no more
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",  // capitals
      "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
      " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  };
  for (const std::string_view row : rows) EXPECT_FALSE(parse_trace_context(row, "")) << row;
}

TEST(TraceContext, reads_a_later_version_as_far_as_it_knows_it) {
  const auto context = parse_trace_context(
      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe-what-comes-later", "");
  ASSERT_TRUE(context);
  EXPECT_FALSE(context->sampled);
  EXPECT_EQ(to_traceparent(*context), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
}

TEST(TraceContext, drops_a_wrong_tracestate_alone) {
  std::string many;
  for (int i = 0; i < 33; ++i) many.append("k").append(std::to_string(i)).append("=v,");
  std::string value = "a=";
  value.append(257, 'x');
  const std::string commas(600, ',');
  const std::string_view rows[] = {"congo",         "=x",      "Congo=x", "a=1,a=2",
                                   "a=b=c",         "a@b@c=1", "a=\t1",   "a=\x01z",
                                   "a=caf\xc3\xa9", many,      value,     commas};
  for (const std::string_view row : rows) {
    const auto context = parse_trace_context(kGood, row);
    ASSERT_TRUE(context) << row;
    EXPECT_EQ(context->state, "") << row;
  }
  EXPECT_EQ(parse_trace_context(kGood, "1a@sys*/_-=x y,,b= ")->state, "1a@sys*/_-=x y,,b= ");
}

TEST(TraceContext, joins_states_and_refuses_two_parents) {
  const net::Headers one{{"Traceparent", kGood}, {"tracestate", "a=1"}, {"TraceState", "b=2"}};
  EXPECT_EQ(trace_context_of(one)->state, "a=1,b=2");
  EXPECT_FALSE(trace_context_of({{"traceparent", kGood}, {"traceparent", kGood}}));
  EXPECT_FALSE(trace_context_of({{"tracestate", "a=1"}}));
}

TEST(TraceContext, takes_a_state_as_large_as_the_standard_allows) {
  const auto taken = [](const std::string& state) {
    return parse_trace_context(kGood, state)->state == state;
  };
  const auto member = [](std::size_t key, std::size_t value) {
    return std::string(key, 'k') + "=" + std::string(value, 'v');
  };
  EXPECT_TRUE(taken(member(256, 255)));  // 512 bytes
  EXPECT_FALSE(taken(member(256, 256)));
  EXPECT_TRUE(taken(member(1, 256)));
  EXPECT_FALSE(taken(member(1, 257)));
  EXPECT_TRUE(taken(member(256, 1)));
  EXPECT_FALSE(taken(member(257, 1)));
  std::string many = "k0=v";
  for (int i = 1; i < 32; ++i) many += ",k" + std::to_string(i) + "=v";
  EXPECT_TRUE(taken(many));
  EXPECT_FALSE(taken(many + ",k32=v"));
}

TEST(TraceContext, knows_each_byte_that_keys_and_values_may_hold) {
  const auto taken = [](const std::string& state) {
    return parse_trace_context(kGood, state)->state == state;
  };
  for (const char* good : {"a=1", "z=1", "0=1", "9=1", "aa_-*/@z09=1", "a=~!"}) {
    EXPECT_TRUE(taken(good)) << good;
  }
  for (const char* bad :
       {"_a=1", "@a=1", "aA=1", "a{=1", "a`=1", "a:=1", "a.=1", "a=\x7f", "a=\x1f"}) {
    EXPECT_FALSE(taken(bad)) << bad;
  }
}

TEST(TraceContext, each_dash_counts) {
  for (const std::size_t at : {2u, 35u, 52u}) {
    std::string text(kGood);
    text[at] = '_';
    EXPECT_FALSE(parse_trace_context(text, "")) << at;
  }
}
}  // namespace
}  // namespace callgate::telemetry::trace_context_test
