#include "config/price.h"

#include <gtest/gtest.h>

namespace callgate::server::price_test {
namespace {

TEST(Price, is_the_first_that_fits_model_and_upstream) {
  const std::vector<PriceConfig> prices{{.model = "big", .upstream = "cheap", .input = 1},
                                        {.model = "big", .input = 2},
                                        {.model = "small-*", .input = 3}};
  EXPECT_EQ(find_price(prices, "big", "cheap")->input, 1);
  EXPECT_EQ(find_price(prices, "big", "dear")->input, 2);
  EXPECT_EQ(find_price(prices, "small-2", "any")->input, 3);
  EXPECT_EQ(find_price(prices, "other", "any"), nullptr);
}

TEST(Price, counts_cached_tokens_as_a_part_of_the_prompt) {
  const PriceConfig price{.model = "m", .input = 2.5, .cached = 0.25, .output = 10};
  const Usage usage{.prompt_tokens = 1'000, .completion_tokens = 100, .cached_tokens = 400};
  EXPECT_EQ(cost_of(price, usage), 600 * 2'500 + 400 * 250 + 100 * 10'000);
  const PriceConfig plain{.model = "m", .input = 2.5, .output = 10};
  EXPECT_EQ(cost_of(plain, usage), 1'000 * 2'500 + 100 * 10'000);
  EXPECT_EQ(cost_of(price, {.prompt_tokens = 1, .cached_tokens = 9}), 250)
      << "an upstream that says more cached tokens than there are";
}

}  // namespace
}  // namespace callgate::server::price_test
