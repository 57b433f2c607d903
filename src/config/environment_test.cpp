// Defaults from environment variables, whose texts have no types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "config/config.h"

namespace callgate::server::environment_test {
namespace {

using testing::HasSubstr;

constexpr const char* kGrace = "PROXY_STOP_AFTER_TOOLS_GRACE_MS";
constexpr const char* kTail = "PROXY_SUPPRESS_TAIL_AFTER_TOOLS";

class EnvironmentTest : public testing::Test {
 protected:
  ~EnvironmentTest() override {
    ::unsetenv(kGrace);
    ::unsetenv(kTail);
  }
  // The model's configuration while a variable has that value.
  static Result<ModelConfig> model_with(const char* name, const char* value) {
    ::setenv(name, value, 1);
    auto config = parse_config(
        "[[upstream]]\nname = \"u\"\nurl = \"http://127.0.0.1:1\"\n"
        "[[model]]\nname = \"m\"\nupstream = \"u\"\n",
        "test.toml");
    ::unsetenv(name);
    if (!config) return tl::unexpected(config.error());
    return config->models.at(0);
  }
};

TEST_F(EnvironmentTest, a_duration_may_have_a_unit) {
  EXPECT_EQ(model_with(kGrace, "150")->stop_after_tools_grace, Milliseconds(150));
  EXPECT_EQ(model_with(kGrace, "2s")->stop_after_tools_grace, Milliseconds(2'000));
  EXPECT_EQ(model_with(kGrace, "20ms")->stop_after_tools_grace, Milliseconds(20));
  const auto wrong = model_with(kGrace, "soon");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("PROXY_STOP_AFTER_TOOLS_GRACE_MS"));
}

TEST_F(EnvironmentTest, an_empty_variable_is_none) {
  EXPECT_EQ(model_with(kGrace, "")->stop_after_tools_grace, ModelConfig().stop_after_tools_grace);
}

TEST_F(EnvironmentTest, a_switch_has_several_words) {
  for (const char* on : {"1", "true", "yes", "on"}) {
    EXPECT_TRUE(model_with(kTail, on)->suppress_tail_after_tools) << on;
  }
  for (const char* off : {"0", "false", "no", "off"}) {
    EXPECT_FALSE(model_with(kTail, off)->suppress_tail_after_tools) << off;
  }
  EXPECT_FALSE(model_with(kTail, "perhaps"));
}

}  // namespace
}  // namespace callgate::server::environment_test
