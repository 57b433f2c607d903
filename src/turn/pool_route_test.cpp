#include "turn/pool_route.h"

#include <gtest/gtest.h>

namespace callgate::server::pool_route_test {
namespace {

Message said(Role role, std::string_view words) {
  Message message;
  message.role = role;
  message.content.text = '"' + std::string(words) + '"';
  return message;
}

Request conversation(std::string_view prompt, std::string_view question) {
  Request request;
  request.messages = {said(Role::system, prompt), said(Role::user, question)};
  return request;
}

ModelConfig balanced(std::string_view by) {
  ModelConfig model;
  model.balance = by;
  return model;
}

TEST(PoolRoute, belongs_to_nothing_unless_the_model_asks_for_it) {
  const Request request = conversation("Be kind.", "Hi");
  EXPECT_EQ(affinity_of(balanced("round_robin"), request, "s", "k"), 0u);
  EXPECT_EQ(affinity_of(balanced("session"), request, "", "k"), 0u);
  EXPECT_EQ(affinity_of(balanced("key"), request, "s", ""), 0u);
}

TEST(PoolRoute, keeps_sessions_together) {
  const ModelConfig model = balanced("session");
  const std::uint64_t first = affinity_of(model, conversation("a", "b"), "s1", "k1");
  EXPECT_NE(first, 0u);
  EXPECT_EQ(first, affinity_of(model, conversation("c", "d"), "s1", "k2"));
  EXPECT_NE(first, affinity_of(model, conversation("a", "b"), "s2", "k1"));
}

TEST(PoolRoute, keeps_the_requests_of_a_key_together) {
  const ModelConfig model = balanced("key");
  const std::uint64_t first = affinity_of(model, conversation("a", "b"), "s1", "k1");
  EXPECT_NE(first, 0u);
  EXPECT_EQ(first, affinity_of(model, conversation("c", "d"), "s2", "k1"));
  EXPECT_NE(first, affinity_of(model, conversation("a", "b"), "s1", "k2"));
}

// A prompt cache serves whatever begins alike: all prompts and the first question, however the conversation continues.
TEST(PoolRoute, keeps_a_growing_conversation_together) {
  const ModelConfig model = balanced("prefix");
  Request request = conversation("Be kind.", "Hi");
  const std::uint64_t first = affinity_of(model, request, "s1", "k1");
  EXPECT_NE(first, 0u);
  request.messages.push_back(said(Role::assistant, "Hello!"));
  request.messages.push_back(said(Role::user, "Bye"));
  EXPECT_EQ(affinity_of(model, request, "s2", "k2"), first);
  EXPECT_NE(affinity_of(model, conversation("Be kind.", "Ho"), "s1", "k1"), first);
  EXPECT_NE(affinity_of(model, conversation("Be rude.", "Hi"), "s1", "k1"), first);
}

}  // namespace
}  // namespace callgate::server::pool_route_test
