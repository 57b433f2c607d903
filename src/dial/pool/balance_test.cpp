#include "dial/pool/balance.h"

#include <gtest/gtest.h>

#include <map>

namespace callgate::server::balance_test {
namespace {

std::vector<Candidate> three(std::int64_t a = 1, std::int64_t b = 1, std::int64_t c = 1) {
  return {{.place = 0, .weight = a, .name = hash_of("a")},
          {.place = 1, .weight = b, .name = hash_of("b")},
          {.place = 2, .weight = c, .name = hash_of("c")}};
}

TEST(Balance, is_chosen_by_its_name) {
  EXPECT_EQ(balance_of("least_in_flight"), Balance::least_in_flight);
  EXPECT_EQ(balance_of("fastest"), Balance::fastest);
  for (const std::string_view sticky : {"session", "key", "prefix"}) {
    EXPECT_EQ(balance_of(sticky), Balance::sticky) << sticky;
  }
  EXPECT_EQ(balance_of("round_robin"), Balance::round_robin);
  EXPECT_EQ(balance_of(""), Balance::round_robin);
}

TEST(Rotation, takes_turns) {
  Rotation rotation;
  const auto all = three();
  std::string order;
  for (int i = 0; i < 6; ++i) order += static_cast<char>('a' + rotation.take(all, 3));
  EXPECT_EQ(order, "abcabc");
}

TEST(Rotation, gives_each_its_share_evenly) {
  Rotation rotation;
  const auto all = three(3, 1, 1);
  std::string order;
  for (int i = 0; i < 5; ++i) order += static_cast<char>('a' + rotation.take(all, 3));
  EXPECT_EQ(order, "abaca");
}

TEST(Rotation, goes_on_among_those_that_are_left) {
  Rotation rotation;
  auto all = three();
  rotation.take(all, 3);
  all.erase(all.begin() + 1);
  std::map<std::size_t, int> taken;
  for (int i = 0; i < 10; ++i) ++taken[all[rotation.take(all, 3)].place];
  EXPECT_EQ(taken[1], 0);
  EXPECT_NEAR(taken[0], 5, 1);
  EXPECT_NEAR(taken[2], 5, 1);
}

TEST(Balance, sends_to_whoever_has_the_fewest_by_weight) {
  Rotation rotation;
  auto all = three(4, 1, 1);
  all[0].in_flight = 7;
  all[1].in_flight = 2;
  all[2].in_flight = 3;
  EXPECT_EQ(choose(Balance::least_in_flight, all, 0, rotation, 3, 1), 0u);
  all[0].in_flight = 9;
  EXPECT_EQ(choose(Balance::least_in_flight, all, 0, rotation, 3, 1), 1u);
  all[2].in_flight = 2;
  std::map<std::size_t, int> taken;
  for (int i = 0; i < 4; ++i) ++taken[choose(Balance::least_in_flight, all, 0, rotation, 3, 1)];
  EXPECT_EQ(taken[1], 2) << "equals take turns";
  EXPECT_EQ(taken[2], 2);
}

TEST(Balance, sends_to_the_fastest_and_tries_those_that_it_does_not_know) {
  Rotation rotation;
  auto all = three();
  all[0].first_token = 80;
  all[1].first_token = 30;
  EXPECT_EQ(choose(Balance::fastest, all, 0, rotation, 3, 1), 2u);
  all[2].first_token = 90;
  EXPECT_EQ(choose(Balance::fastest, all, 0, rotation, 3, 1), 1u);
  std::map<std::size_t, int> taken;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    ++taken[choose(Balance::fastest, all, 0, rotation, 3, i)];
  }
  EXPECT_GT(taken[0], 10) << "now and then the others are asked as well";
  EXPECT_GT(taken[2], 10);
  EXPECT_GT(taken[1], 1'800);
}

TEST(Balance, keeps_together_what_belongs_together_and_moves_nothing_else) {
  Rotation rotation;
  const auto all = three();
  auto two = three();
  two.erase(two.begin());
  std::map<std::size_t, int> taken;
  for (std::uint64_t affinity = 1; affinity <= 3'000; ++affinity) {
    const std::size_t with_all = all[choose(Balance::sticky, all, affinity, rotation, 3, 0)].place;
    const std::size_t again = all[choose(Balance::sticky, all, affinity, rotation, 3, 9)].place;
    const std::size_t without = two[choose(Balance::sticky, two, affinity, rotation, 3, 0)].place;
    EXPECT_EQ(with_all, again);
    if (with_all != 0) {
      EXPECT_EQ(with_all, without);
    }
    ++taken[with_all];
  }
  for (const auto& [place, count] : taken) EXPECT_NEAR(count, 1'000, 120) << place;
}

TEST(Balance, weighs_what_sticks) {
  Rotation rotation;
  const auto all = three(2, 1, 1);
  std::map<std::size_t, int> taken;
  for (std::uint64_t affinity = 1; affinity <= 4'000; ++affinity) {
    ++taken[choose(Balance::sticky, all, affinity, rotation, 3, 0)];
  }
  EXPECT_NEAR(taken[0], 2'000, 150);
  EXPECT_NEAR(taken[1], 1'000, 150);
}

TEST(Balance, spreads_what_belongs_to_nothing) {
  Rotation rotation;
  const auto all = three();
  std::map<std::size_t, int> taken;
  for (int i = 0; i < 9; ++i) ++taken[choose(Balance::sticky, all, 0, rotation, 3, 0)];
  EXPECT_EQ(taken[0], 3);
}

}  // namespace
}  // namespace callgate::server::balance_test
