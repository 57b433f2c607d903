#include "config/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::secrets_test {
namespace {

using testing::ElementsAre;

TEST(Secrets, collects_every_configured_secret) {
  Config config;
  config.keys.push_back({.name = "k", .secret = Secret("key-secret")});
  UpstreamConfig upstream;
  upstream.key = Secret("upstream-secret");
  upstream.headers = {{"x-team", "blue"}, {"x-gate", "Bearer header-secret"}};
  upstream.env = {{"API_KEY", "child-secret"}};
  config.otlp.headers = {{"authorization", "otlp-secret"}};
  config.upstreams.push_back(upstream);
  EXPECT_THAT(secrets_of(config), ElementsAre("key-secret", "upstream-secret", "header-secret",
                                              "child-secret", "otlp-secret"));
}

TEST(Secrets, leaves_out_keys_that_are_not_set) {
  Config config;
  config.upstreams.push_back({.name = "open"});
  EXPECT_THAT(secrets_of(config), testing::IsEmpty());
}

TEST(Secrets, collects_those_of_tools_and_hooks) {
  Config config;
  ToolTable tool;
  tool.headers = {{"authorization", "Bearer tool-secret"}};
  tool.environment = {{"TOKEN", "variable-secret"}, {"LANG", "C"}};
  config.tools.push_back(tool);
  HookTable hook;
  hook.headers = {{"authorization", "Bearer hook-secret"}, {"accept", "*"}};
  config.hooks.push_back(hook);
  EXPECT_THAT(secrets_of(config), ElementsAre("tool-secret", "variable-secret", "hook-secret"));
}

}  // namespace
}  // namespace callgate::server::secrets_test
