#include "dial/pool/remedy.h"

#include <gtest/gtest.h>

#include "base/memory_budget.h"

namespace callgate::server::remedy_test {
namespace {

Error answered(int status, ErrorCode code, std::string upstream_code = {}) {
  return {.code = code, .upstream_code = std::move(upstream_code), .status = status};
}

TEST(Remedy, is_nothing_for_a_turn_that_was_too_much_for_the_gateway) {
  EXPECT_EQ(remedy_for(out_of_memory()), Remedy::none);
}

TEST(Remedy, is_time_for_what_the_world_does_and_another_upstream_for_what_this_one_refuses) {
  EXPECT_EQ(remedy_for({.code = ErrorCode::upstream_failed}), Remedy::later);
  EXPECT_EQ(remedy_for({.code = ErrorCode::timed_out}), Remedy::later);
  EXPECT_EQ(remedy_for(answered(429, ErrorCode::rate_limited)), Remedy::later);
  EXPECT_EQ(remedy_for(answered(429, ErrorCode::rate_limited, "insufficient_quota")),
            Remedy::elsewhere);
  EXPECT_EQ(remedy_for(answered(401, ErrorCode::upstream_failed)), Remedy::elsewhere);
  EXPECT_EQ(remedy_for(answered(403, ErrorCode::forbidden)), Remedy::elsewhere);
  EXPECT_EQ(remedy_for(answered(404, ErrorCode::not_found)), Remedy::elsewhere);
  for (const char* lasting :
       {"unsupported_content_encoding", "content_encoding_ratio", "certificate_refused"}) {
    EXPECT_EQ(remedy_for({.code = ErrorCode::upstream_failed, .upstream_code = lasting}),
              Remedy::elsewhere);
  }
  EXPECT_EQ(remedy_for(answered(400, ErrorCode::invalid_request)), Remedy::none);
  EXPECT_EQ(remedy_for({.code = ErrorCode::conflict, .upstream_code = "conversation_busy"}),
            Remedy::none);
  EXPECT_EQ(remedy_for({.code = ErrorCode::conflict}), Remedy::later);
}

TEST(Trouble, is_what_a_failure_says_of_the_upstream) {
  const Error timeout{.code = ErrorCode::timed_out};
  const Error reset{.code = ErrorCode::upstream_failed};
  EXPECT_EQ(trouble_of(timeout, false), Trouble::silence);
  EXPECT_EQ(trouble_of(timeout, true), Trouble::cut);
  EXPECT_EQ(trouble_of(reset, false), Trouble::failure);
  EXPECT_EQ(trouble_of(reset, true), Trouble::cut);
  EXPECT_EQ(trouble_of(answered(401, ErrorCode::upstream_failed), false), Trouble::failure);
  EXPECT_EQ(trouble_of(answered(429, ErrorCode::rate_limited, "insufficient_quota"), false),
            Trouble::failure);
}

TEST(Trouble, is_none_where_the_upstream_only_says_no) {
  for (const auto& [status, code] :
       std::vector<std::pair<int, ErrorCode>>{{400, ErrorCode::invalid_request},
                                              {404, ErrorCode::not_found},
                                              {413, ErrorCode::too_large},
                                              {429, ErrorCode::rate_limited}}) {
    EXPECT_FALSE(trouble_of(answered(status, code), false)) << status;
  }
  EXPECT_FALSE(trouble_of(out_of_memory(), true)) << "that is the gateway's";
}

TEST(Usefulness, puts_what_clients_can_act_on_first) {
  const std::vector<Error> best_first{
      answered(400, ErrorCode::invalid_request), answered(429, ErrorCode::rate_limited),
      answered(503, ErrorCode::unavailable), answered(404, ErrorCode::not_found),
      answered(401, ErrorCode::upstream_failed)};
  for (std::size_t i = 1; i < best_first.size(); ++i) {
    EXPECT_GT(usefulness(best_first[i - 1]), usefulness(best_first[i])) << i;
  }
}

TEST(NamedPause, understands_seconds_of_any_size) {
  EXPECT_EQ(named_pause({.retry_after = "60"}), Milliseconds(60'000));
  EXPECT_EQ(named_pause({.retry_after = "99999999999999999999999"}),
            Milliseconds(365ll * 86'400'000));
  EXPECT_FALSE(named_pause({.retry_after = "Mon, 16 Nov 2026 17:00:00 GMT"}));
  EXPECT_FALSE(named_pause({}));
}

}  // namespace
}  // namespace callgate::server::remedy_test
