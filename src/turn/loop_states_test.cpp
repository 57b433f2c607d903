#include "turn/loop_states.h"

#include <gtest/gtest.h>

namespace callgate::server::loop_states_test {
namespace {

loop::ReturnToClient returned(std::string id, std::uint32_t rounds) {
  loop::ReturnToClient back;
  back.calls.push_back({std::move(id), "ask", "{}", {}});
  back.state.rounds = rounds;
  return back;
}

Request resumed(std::string id) {
  Request request;
  request.messages.push_back({.role = Role::user});
  Message said{.role = Role::assistant};
  said.calls.push_back({std::move(id), "ask", "{}", {}});
  request.messages.push_back(std::move(said));
  request.messages.push_back({.role = Role::tool});
  return request;
}

std::optional<loop::State> find(LoopStates& states, std::string_view key, const Request& request,
                                std::uint64_t now) {
  const auto found = states.find(key, request, now);
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  return found ? *found : std::nullopt;
}

TEST(LoopStates, finds_a_state_by_call_and_key_until_its_time_is_over) {
  LoopStates states;
  states.set_limits(1 << 20, 100);
  states.keep("a", returned("c1", 3), 10);
  ASSERT_TRUE(find(states, "a", resumed("c1"), 20));
  EXPECT_EQ(find(states, "a", resumed("c1"), 20)->rounds, 3u);
  EXPECT_FALSE(find(states, "b", resumed("c1"), 20));
  EXPECT_FALSE(find(states, "a", resumed("c2"), 20));
  EXPECT_FALSE(find(states, "a", Request(), 20));
  EXPECT_FALSE(find(states, "a", resumed("c1"), 110));
}

TEST(LoopStates, keeps_the_newest_within_its_bytes_and_reports_the_others) {
  LoopStates states;
  std::vector<std::string> lost;
  states.set_loss_report([&](std::string_view why) { lost.emplace_back(why); });
  const std::size_t size = loop::encode_state(returned("c", 1).state).size();
  states.set_limits(2 * size, 1000);
  for (std::uint32_t i = 1; i <= 3; ++i) states.keep("", returned("c" + std::to_string(i), i), i);
  EXPECT_FALSE(find(states, "", resumed("c1"), 4));
  EXPECT_TRUE(find(states, "", resumed("c2"), 4));
  EXPECT_EQ(lost, std::vector<std::string>{"no_room"});
  states.keep("", returned("c2", 9), 5);
  EXPECT_EQ(find(states, "", resumed("c2"), 6)->rounds, 9u);
}

TEST(LoopStates, says_that_a_state_was_too_large_instead_of_beginning_anew) {
  LoopStates states;
  std::vector<std::string> lost;
  states.set_loss_report([&](std::string_view why) { lost.emplace_back(why); });
  states.set_limits(loop::encode_state(returned("c", 1).state).size() - 1, 1000);
  states.keep("k", returned("c4", 4), 7);
  EXPECT_EQ(lost, std::vector<std::string>{"too_large"});
  const auto found = states.find("k", resumed("c4"), 8);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::conflict);
  EXPECT_NE(found.error().message.find("too large"), std::string::npos);
  EXPECT_FALSE(find(states, "other", resumed("c4"), 8));
  EXPECT_FALSE(find(states, "k", resumed("c4"), 1007)) << "it is forgotten as any other";
  EXPECT_EQ(lost.size(), 1u);
}

}  // namespace
}  // namespace callgate::server::loop_states_test
