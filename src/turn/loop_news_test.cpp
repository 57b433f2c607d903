#include "turn/loop_news.h"

#include <gtest/gtest.h>

namespace callgate::server::loop_news_test {
namespace {

TEST(LoopNews, tells_a_call_and_its_result_by_the_same_id) {
  EXPECT_EQ(print_news(loop::ToolCallNotice{
                .round = 2, .call_id = "call_1", .name = "find", .arguments = "{\"a\":1}"}),
            R"({"type":"callgate.tool_call","round":2,"id":"call_1","name":"find",)"
            R"("arguments":"{\"a\":1}"})");
  EXPECT_EQ(print_news(loop::ToolResultNotice{.round = 2,
                                              .call_id = "call_1",
                                              .name = "find",
                                              .preview = "no\nsuch",
                                              .is_error = true,
                                              .bytes = 12,
                                              .duration = 34}),
            R"({"type":"callgate.tool_result","round":2,"id":"call_1","name":"find",)"
            R"("preview":"no\nsuch","is_error":true,"bytes":12,"duration_ms":34})");
}

TEST(LoopNews, tells_what_has_to_be_known_to_approve_a_call) {
  EXPECT_EQ(print_news(loop::WaitForApproval{.run = 3,
                                             .call_id = "call_1",
                                             .name = "refund",
                                             .arguments = "{\"a\":1}",
                                             .deadline = 9},
                       "loop_1"),
            R"({"type":"callgate.approval_required","loop":"loop_1","run":3,"id":"call_1",)"
            R"("name":"refund","arguments":"{\"a\":1}"})");
}

TEST(LoopNews, tells_how_a_loop_ended_with_what_happened_in_it) {
  EXPECT_EQ(
      print_news(loop::LoopEnded{.end = loop::End::completed, .rounds = 1, .calls_made = 2},
                 "loop_1", "{\"x\":1}"),
      R"({"loop":"loop_1","end_reason":"completed","rounds":1,"calls":2,"events":[{"x":1}]})");
  EXPECT_EQ(print_news(loop::LoopEnded{.end = std::nullopt, .rounds = 1, .calls_made = 2}, "l", ""),
            R"({"loop":"l","end_reason":null,"rounds":1,"calls":2})");
}

}  // namespace
}  // namespace callgate::server::loop_news_test
