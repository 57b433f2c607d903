#include "chat/finish_reason.h"

#include <gtest/gtest.h>

namespace callgate::finish_reason_test {
namespace {

TEST(FinishReason, follows_the_table_in_the_header) {
  using enum FinishReason;
  const CallTally none;
  const CallTally complete{.calls = 2, .last = CallOutcome::complete};
  const CallTally cut{.calls = 1, .last = CallOutcome::truncated};
  const CallTally malformed{.calls = 1, .last = CallOutcome::malformed};
  struct Row {
    FinishReason said, without_calls, with_complete, with_malformed, with_cut;
  };
  for (const Row& row :
       {Row{stop, stop, tool_calls, tool_calls, length},
        Row{tool_calls, stop, tool_calls, tool_calls, length},
        Row{length, length, tool_calls, length, length},
        Row{content_filter, content_filter, content_filter, content_filter, content_filter},
        Row{upstream_error, upstream_error, upstream_error, upstream_error, upstream_error}}) {
    EXPECT_EQ(settle(row.said, none), row.without_calls);
    EXPECT_EQ(settle(row.said, complete), row.with_complete);
    EXPECT_EQ(settle(row.said, cut), row.with_cut);
    EXPECT_EQ(settle(row.said, malformed), row.with_malformed);
  }
}

TEST(FinishReason, judges_by_the_last_call) {
  CallTally tally;
  tally.add(CallOutcome::truncated);
  tally.add(CallOutcome::complete);
  EXPECT_EQ(settle(FinishReason::length, tally), FinishReason::tool_calls);
}

}  // namespace
}  // namespace callgate::finish_reason_test
