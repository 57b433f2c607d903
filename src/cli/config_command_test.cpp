#include "cli/command_testing.h"

namespace callgate::cli::config_command_test {
namespace {

using testing::HasSubstr;

class ConfigCommandTest : public CommandTest {};

const std::string kModel =
    "[[upstream]]\nname = \"u\"\nurl = \"script:\"\n[[model]]\nname = \"m\"\nupstream = \"u\"\n";

TEST_F(ConfigCommandTest, prints_what_is_in_force_without_secrets) {
  const std::string file = write(
      "callgate.toml", std::string("listen = \"127.0.0.1:9000\"\n") +
                           "[[key]]\nname = \"ann\"\nsecret = \"hunter2-hunter2\"\n" + kModel);
  const Ran ran = run_command(
      {"config", "check", file, "--set", "limits.max_streams=77", "--set", "log.level=debug"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("127.0.0.1:9000"));
  EXPECT_THAT(ran.out, HasSubstr("max_streams = 77\n"));
  EXPECT_THAT(ran.out, HasSubstr("level = \"debug\"\n"));
  EXPECT_THAT(ran.out, HasSubstr("\"ann\""));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(ran.out, testing::EndsWith("\nok\n"));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("max_body"))) << "it has its default";
  const Ran all = run_command({"config", "check", "--all", file});
  EXPECT_THAT(all.out, HasSubstr("max_body = \"32MiB\"\n"));
}

TEST_F(ConfigCommandTest, says_that_nothing_would_be_served) {
  const Ran ran = run_command({"config", "check", write("empty.toml", "")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("nothing would be served"));
}

TEST_F(ConfigCommandTest, accepts_a_file_with_warnings) {
  const std::string file =
      write("odd.toml", "[[upstream]]\nname = \"a\"\nurl = \"http://h:1\"\n" + kModel);
  const Ran ran = run_command({"config", "check", file});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, HasSubstr(":3: warning: upstream \"a\": its URL may lack /v1"));
  EXPECT_THAT(ran.out, testing::EndsWith("\nok\n"));
}

TEST_F(ConfigCommandTest, asks_upstreams_when_it_is_told_to) {
  const std::string file =
      write("probe.toml", "[[upstream]]\nname = \"a\"\nurl = \"http://127.0.0.1:1/v1\"\n" + kModel);
  EXPECT_EQ(run_command({"config", "check", file}).exit_code, 0);
  const Ran ran = run_command({"config", "check", "--probe", file});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("# upstream a: upstream \"a\": 127.0.0.1:1: connect"));
}

TEST_F(ConfigCommandTest, writes_a_file_that_is_right) {
  const std::string file = path_of("new.toml");
  const Ran made = run_command({"config", "init", file, "--url", "http://127.0.0.1:11434"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const Ran checked = run_command({"config", "check", file});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(checked.err, "");
  EXPECT_THAT(checked.out, HasSubstr("wire = \"ollama\"\n"));
  const Ran again = run_command({"config", "init", file, "--url", "http://127.0.0.1:8000/v1"});
  EXPECT_EQ(again.exit_code, 1) << "a file is not written over";
  EXPECT_EQ(run_command({"config", "init", file, "--force", "--url", "http://127.0.0.1:8000/v1"})
                .exit_code,
            0);
}

TEST_F(ConfigCommandTest, prints_a_schema) {
  const Ran ran = run_command({"config", "schema"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, testing::StartsWith("{\"$schema\":"));
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
}  // namespace callgate::cli::config_command_test
