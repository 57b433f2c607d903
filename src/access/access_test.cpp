#include "access/access.h"

#include <gtest/gtest.h>

namespace callgate::server::access_test {
namespace {

KeyConfig key(std::string name, std::string secret) {
  KeyConfig config;
  config.name = std::move(name);
  config.secret = Secret(std::move(secret));
  return config;
}

TEST(Access, finds_the_key_in_either_header) {
  const Access access({key("a", "one"), key("b", "two")}, nullptr);
  EXPECT_EQ((*access.authenticate("Bearer two", ""))->config.name, "b");
  EXPECT_EQ((*access.authenticate("bearer one", ""))->config.name, "a");
  EXPECT_EQ((*access.authenticate("", "two"))->config.name, "b");
}

TEST(Access, says_what_to_send_without_repeating_what_was_sent) {
  const Access access({key("a", "one")}, nullptr);
  EXPECT_EQ(access.authenticate("", "").error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(access.authenticate("Bearer wrong", "").error().message, "this API key is not known");
  EXPECT_FALSE(access.authenticate("Bearer on", ""));
  EXPECT_FALSE(access.authenticate("Bearer onee", ""));
  EXPECT_FALSE(access.authenticate("Basic one", ""));
}

TEST(Access, an_open_gateway_asks_for_nothing) {
  const Access access({}, nullptr);
  ASSERT_TRUE(access.authenticate("", ""));
  EXPECT_EQ(*access.authenticate("Bearer anything", ""), nullptr);
}

TEST(Access, keeps_the_counters_of_an_unchanged_key_through_a_reload) {
  KeyConfig limited = key("a", "one");
  limited.requests_per_minute = 1;
  const Access before({limited}, nullptr);
  EXPECT_TRUE((*before.authenticate("Bearer one", ""))->rate.take(std::chrono::seconds(5)).allowed);
  const Access after({limited}, &before);
  EXPECT_FALSE((*after.authenticate("Bearer one", ""))->rate.take(std::chrono::seconds(5)).allowed);
}

TEST(Access, takes_every_change_of_a_key_in_a_reload) {
  using Change = void (*)(KeyConfig&);
  const Change changes[] = {
      [](KeyConfig& key) { key.name = "b"; },
      [](KeyConfig& key) { key.secret = Secret("two"); },
      [](KeyConfig& key) { key.requests_per_minute = 7; },
      [](KeyConfig& key) { key.max_streams = 7; },
      [](KeyConfig& key) { key.models = {"other"}; },
      [](KeyConfig& key) { key.admin = true; },
      [](KeyConfig& key) { key.log_content = false; },
      [](KeyConfig& key) { key.tools = {"lookup_*"}; },
      [](KeyConfig& key) { key.deny_tools = {"*"}; },
  };
  const Access before({key("a", "one")}, nullptr);
  for (const Change& change : changes) {
    KeyConfig changed = key("a", "one");
    change(changed);
    const Access after({changed}, &before);
    EXPECT_EQ(after.keys().front()->config, changed) << "change " << (&change - changes);
  }
}

TEST(Access, lets_a_key_use_the_models_of_its_patterns) {
  KeyConfig config = key("a", "one");
  config.models = {"demo-*", "exact"};
  const KeyState state(config);
  EXPECT_TRUE(state.may_use("demo-text"));
  EXPECT_TRUE(state.may_use("exact"));
  EXPECT_FALSE(state.may_use("other"));
}

TEST(Access, lets_a_key_use_the_tools_that_it_is_given_and_not_denied) {
  KeyConfig config = key("a", "one");
  EXPECT_TRUE(may_use_tool(config, "lookup"));
  config.tools = {"lookup", "re*"};
  config.deny_tools = {"refund"};
  EXPECT_TRUE(may_use_tool(config, "lookup"));
  EXPECT_TRUE(may_use_tool(config, "report"));
  EXPECT_FALSE(may_use_tool(config, "refund"));
  EXPECT_FALSE(may_use_tool(config, "other"));
  config.tools = {};
  EXPECT_FALSE(may_use_tool(config, "lookup"));
}

TEST(Cors, lets_loopback_pages_in_on_loopback_only) {
  EXPECT_EQ(allowed_origin("http://localhost:3000", {}, true), "http://localhost:3000");
  EXPECT_EQ(allowed_origin("http://[::1]:3000", {}, true), "http://[::1]:3000");
  EXPECT_EQ(allowed_origin("http://localhost:3000", {}, false), "");
  EXPECT_EQ(allowed_origin("http://localhost.evil.example", {}, true), "");
  EXPECT_EQ(allowed_origin("https://app.example", {"https://*.example"}, false),
            "https://app.example");
  EXPECT_EQ(allowed_origin("https://app.example", {"*"}, false), "*");
  EXPECT_EQ(allowed_origin("", {"*"}, false), "");
}

TEST(RequestId, keeps_short_harmless_ids_only) {
  EXPECT_TRUE(is_acceptable_request_id("req_12-AB.c:d"));
  EXPECT_FALSE(is_acceptable_request_id(""));
  EXPECT_FALSE(is_acceptable_request_id("a\nb"));
  EXPECT_FALSE(is_acceptable_request_id("a b"));
  EXPECT_FALSE(is_acceptable_request_id(std::string(129, 'a')));
}

}  // namespace
}  // namespace callgate::server::access_test
