#include "cli/command_testing.h"

namespace callgate::cli::key_command_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

class KeyCommandTest : public CommandTest {
 protected:
  Ran key(std::vector<std::string> words) const {
    words.insert(words.begin(), "key");
    words.insert(words.end(), {"--url", "sqlite:" + path_of("keys.db")});
    return run_command(words);
  }
};

TEST_F(KeyCommandTest, makes_a_key_and_shows_its_secret_once) {
  const Ran made = key({"new", "dev", "--owner", "Ann", "--expires", "90d", "--models", "a,b-*",
                        "--max-streams", "3"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, MatchesRegex("cg-[A-Za-z0-9_-]+\n"));
  EXPECT_THAT(made.err, HasSubstr("cannot be shown again"));
  const std::string secret = made.out.substr(0, made.out.size() - 1);
  const Ran shown = key({"show", "dev"});
  EXPECT_THAT(shown.out, HasSubstr(R"("models":["a","b-*"])"));
  EXPECT_THAT(shown.out, HasSubstr(R"("max_streams":3)"));
  EXPECT_THAT(shown.out, Not(HasSubstr(secret)));
  EXPECT_THAT(read_file(path_of("keys.db")), Not(HasSubstr(secret)));
  EXPECT_THAT(key({"list"}).out, HasSubstr("dev   until 20"));
  const Ran again = key({"new", "dev"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("take another name"));
  EXPECT_THAT(again.out, IsEmpty());
}

TEST_F(KeyCommandTest, rotates_and_revokes) {
  const std::string first = key({"new", "dev"}).out;
  const Ran rotated = key({"rotate", "dev", "--grace", "15m"});
  EXPECT_EQ(rotated.exit_code, 0) << rotated.err;
  EXPECT_NE(rotated.out, first);
  EXPECT_EQ(key({"rotate", "dev", "--grace", "soon"}).exit_code, 1);
  EXPECT_EQ(key({"revoke", "dev"}).exit_code, 0);
  EXPECT_THAT(key({"list"}).out, HasSubstr("revoked"));
  EXPECT_THAT(key({"list", "--json"}).out, HasSubstr(R"("state":"revoked")"));
  EXPECT_EQ(key({"rotate", "dev"}).exit_code, 1);
  for (const std::string action : {"show", "rotate", "revoke"}) {
    const Ran missing = key({action, "nobody"});
    EXPECT_EQ(missing.exit_code, 1) << action;
    EXPECT_THAT(missing.err, HasSubstr("no key \"nobody\"")) << action;
  }
}

TEST_F(KeyCommandTest, leaves_the_names_of_the_file_alone) {
  const std::string file =
      write("callgate.toml", "[store]\nurl = \"sqlite:" + path_of("keys.db") +
                                 "\"\n[[key]]\nname = \"dev\"\nsecret = \"sk-0123456789abcdef\"\n");
  const Ran ran = run_command({"key", "new", "dev", "--config", file});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("take another name"));
  EXPECT_EQ(run_command({"key", "new", "other", "--config", file}).exit_code, 0);
}

TEST_F(KeyCommandTest, says_that_there_is_no_store) {
  const std::string file = write("callgate.toml", "[store]\nurl = \"none\"\n");
  const Ran ran = run_command({"key", "new", "dev", "--config", file});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("keys cannot be stored"));
  const Ran wrong = key({"new", "a b"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("name: expected"));
}

}  // namespace
}  // namespace callgate::cli::key_command_test
