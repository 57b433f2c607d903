#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "cli/command_testing.h"
#include "cli/terminal.h"

namespace callgate::cli::login_command_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LoginCommandTest : public CommandTest {
 protected:
  std::string config(const std::string& upstream) const {
    return write("callgate.toml", "[[upstream]]\nname = \"up\"\n" + upstream +
                                      "\n[[model]]\nname = \"m\"\nupstream = \"up\"\n");
  }
  Ran log_in(const std::string& upstream, const std::string& input = "") const {
    return run_command({"login", "up", "--config", config(upstream)}, input);
  }
  std::string with_file(const std::string& rest) const {
    return "key_file = \"" + path_of("keys/up.key") + "\"\n" + rest;
  }
  std::string kept() const { return read_file(folder_ / "keys" / "up.key"); }
};

TEST_F(LoginCommandTest, keeps_what_comes_on_standard_input_for_its_owner_alone) {
  const std::string up = with_file("wire = \"qwen_web\"\nurl = \"http://127.0.0.1:1/api/v2\"\n");
  const std::string input = R"({"token":"t-1","headers":{"cookie":"a=1; b=2"}})";
  const Ran ran = log_in(up, input);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(kept(), input);
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("t-1")));
  struct stat file {};
  ASSERT_EQ(::stat(path_of("keys/up.key").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
  struct stat folder {};
  ASSERT_EQ(::stat(path_of("keys").c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0777u, 0700u);
}

TEST_F(LoginCommandTest, runs_the_login_command_and_tries_what_it_printed) {
  CannedServer server({reply(200, R"({"data":[{"id":"a"},{"id":"b"}]})")});
  const std::string up =
      with_file("url = \"" + server.url() +
                "/v1\"\nlogin_command = [\"sh\", \"-c\", \"read answer; echo sk-$answer\"]\n");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // the program asks the person itself, on our standard input
  ASSERT_EQ(::write(ends[1], "ann\n", 4), 4);
  const int before = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  const Ran ran = log_in(up);
  ::dup2(before, STDIN_FILENO);
  for (const int end : {ends[0], ends[1], before}) ::close(end);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(kept(), "sk-ann\n");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_THAT(server.requests()[0],
              AllOf(HasSubstr("GET /v1/models"), HasSubstr("authorization: Bearer sk-ann")));
  EXPECT_THAT(ran.err, HasSubstr("lists 2 models"));
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("sk-ann")));
}

TEST_F(LoginCommandTest, says_when_the_upstream_does_not_take_it) {
  CannedServer server({reply(401, "{}"), reply(401, "{}")});
  const Ran ran = log_in(with_file("url = \"" + server.url() + "/v1\"\n"), "sk-old\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("/v1/models answered 401; `callgate login up` logs in"));
}

TEST_F(LoginCommandTest, keeps_the_former_credential_when_there_is_no_new_one) {
  const std::string url = "url = \"http://127.0.0.1:1/v1\"\n";
  std::filesystem::create_directory(folder_ / "keys");
  write("keys/up.key", "sk-former");
  for (const std::string& input :
       {std::string(" \n"), std::string("two words"), std::string("{}")}) {
    EXPECT_EQ(log_in(with_file(url), input).exit_code, 1) << input;
    EXPECT_EQ(kept(), "sk-former");
  }
  const Ran failed =
      log_in(with_file(url + "login_command = [\"sh\", \"-c\", \"echo sk-x; exit 3\"]\n"));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("sh ended with exit status 3"), Not(HasSubstr("sk-x"))));
  const Ran loud =
      log_in(with_file(url + "login_command = [\"sh\", \"-c\", \"head -c 99999 /dev/zero\"]\n"));
  EXPECT_THAT(loud.err, HasSubstr("printed too much"));
  const Ran missing = log_in(with_file(url + "login_command = [\"no-such-program\"]\n"));
  EXPECT_THAT(missing.err, HasSubstr("no-such-program: No such file or directory"));
  EXPECT_EQ(kept(), "sk-former");
}

TEST_F(LoginCommandTest, leaves_it_to_codex_to_log_in_with_the_environment_of_its_upstream) {
  const std::string codex =
      write("codex", "#!/bin/sh\necho \"$1 $CODEX_HOME\" > " + path_of("ran"));
  ::chmod(codex.c_str(), 0700);
  const Ran ran = log_in("wire = \"codex_app_server\"\ncommand = [\"" + codex +
                         "\", \"app-server\"]\nenv = { CODEX_HOME = \"/srv/codex\" }\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(read_file(folder_ / "ran"), "login /srv/codex\n");
}

TEST_F(LoginCommandTest, says_what_is_missing) {
  const Ran nowhere = log_in("url = \"http://127.0.0.1:1/v1\"\n", "sk");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("key_file = \"/var/lib/callgate/up.key\""));
  const std::string file = config("url = \"http://127.0.0.1:1/v1\"\n");
  const Ran unknown = run_command({"login", "upp", "--config", file});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("unknown upstream \"upp\", did you mean \"up\"?"));
  const Ran command = log_in("url = \"http://127.0.0.1:1/v1\"\nlogin_command = [\"x\"]\n");
  EXPECT_THAT(command.err,
              HasSubstr("callgate.toml:4: upstream \"up\": login_command needs key_file"));
}

TEST_F(LoginCommandTest, is_what_config_check_names_for_a_credential_that_is_missing) {
  const std::string file = config(with_file("url = \"http://127.0.0.1:1/v1\"\n"));
  const Ran ran = run_command({"config", "check", file});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("callgate.toml:3: warning: key_file: "),
                    HasSubstr("No such file or directory; `callgate login up` writes it")));
}

TEST(AskHidden, does_not_show_what_is_typed_and_shows_the_rest_again) {
  int master = -1;
  int terminal = -1;
  ASSERT_EQ(::openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  std::string seen;
  std::thread person([&] {
    char bytes[256];
    while (seen.find("key: ") == std::string::npos) {
      const ssize_t count = ::read(master, bytes, sizeof bytes);
      if (count <= 0) return;
      seen.append(bytes, static_cast<std::size_t>(count));
    }
    (void)!::write(master, "sk-typed\n", 9);
  });
  const auto answer = ask_hidden(terminal, "key: ");
  person.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "sk-typed");
  ASSERT_EQ(::write(master, "shown\n", 6), 6);
  char bytes[256];
  while (seen.find("shown") == std::string::npos) {
    const ssize_t count = ::read(master, bytes, sizeof bytes);
    ASSERT_GT(count, 0);
    seen.append(bytes, static_cast<std::size_t>(count));
  }
  EXPECT_THAT(seen, Not(HasSubstr("sk-typed")));
  ::close(master);
  ::close(terminal);
}

}  // namespace
}  // namespace callgate::cli::login_command_test
