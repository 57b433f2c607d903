#include "cli/command_testing.h"

namespace callgate::cli {
namespace {

using testing::HasSubstr;

class ConfigCommandTest : public CommandTest {};

TEST_F(ConfigCommandTest, prints_what_is_in_force_without_secrets) {
  const std::string file = write("callgate.toml",
                                 "listen = \"127.0.0.1:9000\"\n"
                                 "[[key]]\nname = \"ann\"\nsecret = \"hunter2-hunter2\"\n");
  const Ran ran = run_command(
      {"config", "check", file, "--set", "limits.max_streams=77", "--set", "log.level=debug"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("127.0.0.1:9000"));
  EXPECT_THAT(ran.out, HasSubstr("max_streams = 77\n"));
  EXPECT_THAT(ran.out, HasSubstr("level = \"debug\"\n"));
  EXPECT_THAT(ran.out, HasSubstr("\"ann\""));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("hunter2")));
}

TEST_F(ConfigCommandTest, names_the_fault_and_exits_with_1) {
  const std::string file = write("wrong.toml", "\nlissen = \"127.0.0.1:9000\"\n");
  const Ran ran = run_command({"config", "check", file});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("wrong.toml:2"));
  EXPECT_THAT(ran.err, HasSubstr("listen"));

  const Ran missing = run_command({"config", "check", path_of("none.toml")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.toml"));
}

}  // namespace
}  // namespace callgate::cli
