#include "access/token_meter.h"

#include <gtest/gtest.h>

namespace callgate::server::token_meter_test {
namespace {

class TokenMeterTest : public testing::Test {
 protected:
  TokenMeterTest() {
    KeyConfig config;
    config.name = "dev";
    config.tokens_per_minute = 1'000;
    config.tokens_per_day = 1'000;
    config.cost_per_day = 1;
    key_ = std::make_shared<KeyState>(config);
    meter_ = std::make_unique<TokenMeter>(TokenMeter::Subject{
        .key = key_, .prices = prices_, .model = "m", .limits = nullptr, .reserved = 20});
  }
  // Tokens, and billionths.
  std::int64_t spent(std::size_t budget) const { return key_->budgets[budget]->use("dev").spent; }

  const std::shared_ptr<const std::vector<PriceConfig>> prices_ =
      std::make_shared<const std::vector<PriceConfig>>(
          std::vector<PriceConfig>{{.model = "m", .input = 1, .output = 10}});
  std::shared_ptr<KeyState> key_;
  std::unique_ptr<TokenMeter> meter_;
};

TEST_F(TokenMeterTest, counts_as_it_comes_and_settles_with_what_the_upstream_says) {
  meter_->begin_answer("up", 20);
  EXPECT_EQ(spent(0), 20);
  TurnSummary summary;
  summary.text_bytes = 50;
  summary.deltas = 10;
  meter_->add(summary);
  EXPECT_EQ(spent(0), 30);
  EXPECT_EQ(spent(1), 20 * 1'000 + 10 * 10'000);
  summary.usage = Usage{.prompt_tokens = 18, .completion_tokens = 12};
  meter_->end_answer(summary, true);
  EXPECT_EQ(spent(0), 30);
  EXPECT_EQ(spent(1), 18 * 1'000 + 12 * 10'000);
  meter_->begin_answer("up", 100);
  EXPECT_EQ(spent(0), 130) << "a second round";
  EXPECT_EQ(meter_->total().prompt_tokens, 118);
}

TEST_F(TokenMeterTest, keeps_what_came_of_an_answer_that_was_cut) {
  meter_->begin_answer("up", 20);
  TurnSummary summary;
  summary.text_bytes = 500;
  summary.deltas = 100;
  summary.usage = Usage{.prompt_tokens = 25, .completion_tokens = 1};  // as at the beginning
  meter_->end_answer(summary, false);
  EXPECT_EQ(spent(0), 125);
  EXPECT_EQ(meter_->answer().completion_tokens, 100);
}

TEST_F(TokenMeterTest, counts_what_was_reserved_once) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  ASSERT_TRUE(key_->tokens.take(now, 20).allowed);  // as when the turn was let in
  meter_->begin_answer("up", 50);
  EXPECT_FALSE(key_->tokens.take(now, 951).allowed);
  EXPECT_TRUE(key_->tokens.take(now, 949).allowed) << "50 of 1,000 are used, not 70";
}

TEST_F(TokenMeterTest, gives_back_what_was_reserved_for_nothing) {
  using std::chrono::steady_clock;
  const auto now = steady_clock::now().time_since_epoch();
  ASSERT_TRUE(key_->tokens.take(now, 20).allowed);  // as when the turn was let in
  meter_.reset();
  EXPECT_TRUE(key_->tokens.take(now, 1'000).allowed);
  EXPECT_EQ(spent(0), 0);
}

TEST(EstimateWritten, takes_deltas_for_tokens_while_they_are_short) {
  EXPECT_EQ(estimate_written(0, 0), 0);
  EXPECT_EQ(estimate_written(50, 10), 10);
  EXPECT_EQ(estimate_written(120, 10), 10);
  EXPECT_EQ(estimate_written(700, 10), 200) << "many tokens in each delta";
  EXPECT_EQ(estimate_written(3, 10), 3) << "deltas that say nothing";
}

}  // namespace
}  // namespace callgate::server::token_meter_test
