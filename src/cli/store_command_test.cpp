#include "cli/command_testing.h"

namespace callgate::cli::store_command_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class StoreCommandTest : public CommandTest {
 protected:
  std::string url(const std::string& name) const { return "sqlite:" + path_of(name); }
};

TEST_F(StoreCommandTest, makes_checks_and_moves_a_store) {
  const Ran made = run_command({"store", "migrate", "--url", url("a.db")});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, MatchesRegex("schema version [1-9][0-9]*\n"));
  const std::string version = made.out.substr(0, made.out.size() - 1);

  const Ran sound = run_command({"store", "check", "--url", url("a.db")});
  EXPECT_EQ(sound.exit_code, 0) << sound.err;
  EXPECT_EQ(sound.out, "sqlite, " + version + ", 0 requests, no faults\n");

  const std::string lines =
      R"({"callgate_store":1,"schema":)" + version.substr(version.rfind(' ') + 1) + "}\n";
  const Ran exported = run_command({"store", "export", "--url", url("a.db")});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, StartsWith(lines));
  EXPECT_THAT(exported.err, MatchesRegex("[0-9]+ rows exported\n"));

  const Ran imported = run_command({"store", "import", "--url", url("b.db")}, exported.out);
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.err, MatchesRegex("[0-9]+ rows imported\n"));
  EXPECT_EQ(run_command({"store", "export", "--url", url("b.db")}).out, exported.out);
}

TEST_F(StoreCommandTest, finds_the_store_of_a_configuration) {
  const std::string file =
      write("callgate.toml", "[store]\nurl = \"" + url("configured.db") + "\"\n");
  EXPECT_EQ(run_command({"store", "migrate", "--config", file}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path_of("configured.db")));
  const Ran missing = run_command({"store", "check", "--config", path_of("none.toml")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.toml"));
}

TEST_F(StoreCommandTest, does_not_make_what_it_only_looks_at) {
  for (const std::string action : {"check", "export"}) {
    const Ran ran = run_command({"store", action, "--url", url("none.db")});
    EXPECT_EQ(ran.exit_code, 1) << action;
    EXPECT_THAT(ran.err, HasSubstr("none.db: No such file or directory")) << action;
    EXPECT_FALSE(std::filesystem::exists(path_of("none.db"))) << action;
  }
}

TEST_F(StoreCommandTest, names_the_store_that_it_cannot_read) {
  const std::string file = write("text.db", std::string(4096, 'x'));
  for (const std::string action : {"migrate", "check", "export"}) {
    const Ran ran = run_command({"store", action, "--url", "sqlite:" + file});
    EXPECT_EQ(ran.exit_code, 1) << action;
    EXPECT_EQ(ran.out, "") << action;
    EXPECT_THAT(ran.err, StartsWith("store: " + file + ": ")) << action;
  }
  const Ran garbage = run_command({"store", "import", "--url", url("c.db")}, "no rows\n");
  EXPECT_EQ(garbage.exit_code, 1);
  EXPECT_THAT(garbage.err, HasSubstr("line 1"));
}

// A row of a request that is not there: nothing in the schema forbids it, and a gateway never writes it.
TEST_F(StoreCommandTest, reports_faults_and_exits_with_1) {
  const Ran made = run_command({"store", "migrate", "--url", url("d.db")});
  const std::string schema = made.out.substr(15, made.out.size() - 16);
  const std::string lines =
      R"({"callgate_store":1,"schema":)" + schema +
      "}\n"
      R"({"table":"content","row":{"place":4,"received_at":1760011200000,"body":"{}"}})"
      "\n";
  const Ran imported = run_command({"store", "import", "--url", url("d.db")}, lines);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.err, "1 rows imported\n");
  const Ran checked = run_command({"store", "check", "--url", url("d.db")});
  EXPECT_EQ(checked.exit_code, 1) << checked.out;
  EXPECT_THAT(checked.out, StartsWith("fault: "));
  EXPECT_THAT(checked.out, HasSubstr("0 requests, faults found\n"));
}

}  // namespace
}  // namespace callgate::cli::store_command_test
