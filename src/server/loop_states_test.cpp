#include "server/loop_states.h"

#include <gtest/gtest.h>

namespace callgate::server {
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

TEST(LoopStates, finds_a_state_by_call_and_key_until_its_time_is_over) {
  LoopStates states;
  states.set_limits(1 << 20, 100);
  states.keep("a", returned("c1", 3), 10);
  ASSERT_TRUE(states.find("a", resumed("c1"), 20));
  EXPECT_EQ(states.find("a", resumed("c1"), 20)->rounds, 3u);
  EXPECT_FALSE(states.find("b", resumed("c1"), 20));
  EXPECT_FALSE(states.find("a", resumed("c2"), 20));
  EXPECT_FALSE(states.find("a", Request(), 20));
  EXPECT_FALSE(states.find("a", resumed("c1"), 110));
}

TEST(LoopStates, keeps_the_newest_within_its_bytes) {
  LoopStates states;
  const std::size_t size = loop::encode_state(returned("c", 1).state).size();
  states.set_limits(2 * size, 1000);
  for (std::uint32_t i = 1; i <= 3; ++i) states.keep("", returned("c" + std::to_string(i), i), i);
  EXPECT_FALSE(states.find("", resumed("c1"), 4));
  EXPECT_TRUE(states.find("", resumed("c2"), 4));
  states.keep("", returned("c2", 9), 5);
  EXPECT_EQ(states.find("", resumed("c2"), 6)->rounds, 9u);
  states.set_limits(size - 1, 1000);
  states.keep("", returned("c4", 4), 7);
  EXPECT_FALSE(states.find("", resumed("c4"), 8));
}

}  // namespace
}  // namespace callgate::server
