#include "session/conversation_claims.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <vector>

#include "net/net_testing.h"

namespace callgate::server::conversation_claims_test {
namespace {

TEST(ConversationClaim, refuses_what_another_request_holds) {
  net::Loop loop;
  ConversationClaims claims;
  const auto run = [](net::Loop& on, ConversationClaims& of) -> net::Task<> {
    ConversationClaim first(of, on);
    ConversationClaim second(of, on);
    const ConversationClaim::Options refuse{.wait = false};
    auto taken = co_await first.take("a", refuse);
    EXPECT_TRUE(taken);
    auto other = co_await second.take("b", refuse);
    EXPECT_TRUE(other);
    auto refused = co_await second.take("a", refuse);
    EXPECT_FALSE(refused);
    if (!refused) {
      EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    }
    first.release();
    auto again = co_await second.take("a", refuse);
    EXPECT_TRUE(again);
  };
  net::run_to_end(loop, run(loop, claims));
  EXPECT_EQ(claims.held(), 0u);
}

TEST(ConversationClaim, gives_up_when_time_is_over_or_it_is_cancelled) {
  net::Loop loop;
  ConversationClaims claims;
  const auto run = [](net::Loop& on, ConversationClaims& of) -> net::Task<> {
    ConversationClaim first(of, on);
    ConversationClaim second(of, on);
    const ConversationClaim::Options wait{};
    auto taken = co_await first.take("a", wait);
    EXPECT_TRUE(taken);
    const ConversationClaim::Options brief{.wait = true, .patience = net::Millis(5)};
    auto late = co_await second.take("a", brief);
    EXPECT_FALSE(late);
    if (!late) {
      EXPECT_EQ(late.error().code, ErrorCode::conflict);
    }
    const auto cancel = [](net::Loop& l, ConversationClaim& claim) -> net::Task<> {
      co_await l.sleep(net::Millis(2));
      claim.cancel();
    };
    on.spawn(cancel(on, second));
    auto cancelled = co_await second.take("a", wait);
    EXPECT_FALSE(cancelled);
  };
  net::run_to_end(loop, run(loop, claims));
  EXPECT_EQ(claims.held(), 0u);
}

// Holders on two loops, some of which go away while they wait.
TEST(ConversationClaim, is_held_by_one_request_over_all_loops) {
  ConversationClaims claims;
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  std::atomic<int> clashes{0};
  const auto hold = [&](net::Loop& loop, int number) -> net::Task<> {
    {
      ConversationClaim claim(claims, loop);
      const ConversationClaim::Options options{.wait = true,
                                               .patience = net::Millis(number % 7 == 0 ? 1 : 0)};
      auto taken = co_await claim.take(number % 2 == 0 ? "even" : "odd", options);
      if (taken && number % 2 == 0) {
        if (inside.fetch_add(1) != 0) ++clashes;
        co_await loop.sleep(net::Millis(number % 3 == 0 ? 1 : 0));
        inside.fetch_sub(1);
      }
    }
    ++done;
  };
  constexpr int kEach = 50;
  net::LoopGroup loops(2);
  for (std::size_t i = 0; i < 2; ++i) {
    loops[i].post([&, i] {
      for (int n = 0; n < kEach; ++n) loops[i].spawn(hold(loops[i], n));
    });
  }
  loops.start();
  for (int i = 0; i < 2000 && done < 2 * kEach; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  loops.stop();
  loops.join();
  EXPECT_EQ(done, 2 * kEach);
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(claims.held(), 0u);
}

}  // namespace
}  // namespace callgate::server::conversation_claims_test
