#include "turn/running_responses.h"

#include <gtest/gtest.h>

namespace callgate::server::running_responses_test {
namespace {

class RunningResponseTest : public testing::Test {
 protected:
  std::shared_ptr<RunningResponse> make(MemoryBudget& budget) {
    return std::make_shared<RunningResponse>(loop_, budget, store::ResponseName{"ann", "resp_1"},
                                             "{}");
  }
  static std::string frame(std::size_t size) {
    return "event: x\ndata: " + std::string(size, 'x') + "\n\n";
  }

  net::Loop loop_;
};

TEST_F(RunningResponseTest, gives_much_in_pieces_of_whole_frames) {
  MemoryBudget budget;
  const auto response = make(budget);
  for (const std::size_t size : {100'000, 100'000, 100'000, 2'000'000, 10, 300'000, 10}) {
    EXPECT_TRUE(response->append(frame(size)));
  }
  response->finish("{}");
  std::string all;
  int pieces = 0;
  for (bool over = false; !over; ++pieces) {
    const RunningResponse::News news = response->read(all.size());
    EXPECT_TRUE(news.frames.ends_with("\n\n"));
    EXPECT_LE(news.frames.size(), 2'100'000u);
    all += news.frames;
    over = news.over;
    EXPECT_EQ(over, all == response->events());
    ASSERT_LT(pieces, 10);
  }
  EXPECT_EQ(pieces, 6);
}

TEST_F(RunningResponseTest, takes_no_more_than_there_is_memory_for) {
  MemoryBudget budget(1 << 20);
  const auto response = make(budget);
  EXPECT_TRUE(response->append(frame(400'000)));
  EXPECT_FALSE(response->append(frame(400'000)));
  EXPECT_GE(budget.used(), 800'000u);
  EXPECT_LT(response->events().size(), 500'000u);
}

}  // namespace
}  // namespace callgate::server::running_responses_test
