#include "cli/app.h"

#include "callgate/version.h"
#include "cli/command_testing.h"

namespace callgate::cli::app_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kCommands[] = {"serve",    "mock",       "parse",  "replay",
                                          "dialects", "smoke",      "config", "store",
                                          "log",      "completion", "manual", "version"};

TEST(App, prints_its_version) {
  const Ran ran = run_command({"--version"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, std::string(kVersion) + "\n");
}

TEST(App, lists_its_commands) {
  const Ran ran = run_command({"--help"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, StartsWith("Callgate, the streaming tool-call gateway."));
  EXPECT_THAT(ran.out, HasSubstr("`callgate serve --demo` needs no configuration."));
  for (const std::string_view command : kCommands) {
    EXPECT_THAT(ran.out, HasSubstr("\n  " + std::string(command) + " "));
    EXPECT_EQ(run_command({std::string(command), "--help"}).exit_code, 0) << command;
  }
}

TEST(App, refuses_a_line_that_it_does_not_understand) {
  const std::pair<std::vector<std::string>, std::string_view> rows[] = {
      {{}, "A subcommand is required"},
      {{"sing"}, "unknown command \"sing\""},
      {{"serv"}, "unknown command \"serv\", did you mean \"serve\"?"},
      {{"serve", "--lisen", "x"}, "unknown option \"--lisen\", did you mean \"--listen\"?"},
      {{"config", "chek"}, "unknown command \"chek\", did you mean \"check\"?"},
      {{"dialects", "--loud"}, "--loud"},
      {{"config"}, "A subcommand is required"},
      {{"store"}, "A subcommand is required"},
      {{"log"}, "A subcommand is required"},
      {{"log", "capture"}, "id is required"},
      {{"log", "tail", "--lines", "0"}, "not in range"},
      {{"log", "tail", "--interval", "0.01"}, "not in range"},
      {{"log", "search", "--limit", "100001"}, "not in range"},
      {{"completion"}, "shell is required"},
      {{"completion", "tcsh"}, "tcsh not in"},
      {{"parse", "--emit", "xml"}, "xml not in"},
      {{"parse", "--commit", "late"}, "late not in"},
      {{"replay"}, "file is required"},
      {{"replay", "a", "--emit", "xml"}, "xml not in"},
      {{"replay", "a", "--request", "/nonexistent"}, "does not exist"},
      {{"smoke", "--repeat", "0"}, "not in range"},
      {{"smoke", "--timeout", "0"}, "not in range"},
      {{"smoke", "--temperature", "hot"}, "hot"},
      {{"smoke", "--disconnect-after-first-tool=later"}, "later not in"},
  };
  for (const auto& [words, message] : rows) {
    const Ran ran = run_command(words);
    EXPECT_GT(ran.exit_code, 100) << message;
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_EQ(ran.out, "");
  }
}

TEST(ServeCommand, says_why_it_does_not_start) {
  const Ran serve = run_command({"serve", "--config", "/nonexistent.toml"});
  EXPECT_EQ(serve.exit_code, 1);
  EXPECT_THAT(serve.err, StartsWith("callgate: "));
  EXPECT_THAT(serve.err, HasSubstr("/nonexistent.toml"));

  const Ran wrong = run_command({"serve", "--demo", "--set", "limits.max_streams=many"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("limits.max_streams"));

  const Ran address = run_command({"serve", "--demo", "--listen", "nowhere"});
  EXPECT_EQ(address.exit_code, 1);
  EXPECT_THAT(address.err, HasSubstr("nowhere"));
}

TEST(MockCommand, says_why_it_does_not_start) {
  const Ran script = run_command({"mock", "--script", "/nonexistent.script"});
  EXPECT_EQ(script.exit_code, 1);
  EXPECT_THAT(script.err, StartsWith("callgate: "));
  EXPECT_THAT(script.err, HasSubstr("/nonexistent.script"));

  const Ran wire = run_command({"mock", "--stdio", "telnet"});
  EXPECT_EQ(wire.exit_code, 1);
  EXPECT_EQ(wire.err, "callgate: --stdio telnet: expected codex_app_server or codex_proto\n");

  const Ran stdio = run_command({"mock", "--stdio", "codex_proto", "--script", "/nonexistent"});
  EXPECT_EQ(stdio.exit_code, 1);
  EXPECT_THAT(stdio.err, HasSubstr("/nonexistent"));
}

TEST(CompletionCommand, completes_every_command_and_its_options) {
  const Ran bash = run_command({"completion", "bash"});
  EXPECT_EQ(bash.exit_code, 0);
  EXPECT_THAT(bash.out, StartsWith("_callgate() {\n"));
  EXPECT_THAT(bash.out, testing::EndsWith("\ncomplete -o filenames -F _callgate callgate\n"));
  for (const std::string_view command : kCommands) {
    EXPECT_THAT(bash.out, HasSubstr("    " + std::string(command) + ") words='"));
  }
  EXPECT_THAT(bash.out, HasSubstr("    dialects) words='--help --json --for' ;;\n"));
  EXPECT_THAT(bash.out, HasSubstr("    config) words='check init schema --help' ;;\n"));
  EXPECT_THAT(bash.out,
              HasSubstr("words='serve mock parse replay dialects smoke config store log key "
                        "login usage loops tools completion manual version --help --version'\n"));

  EXPECT_THAT(bash.out, HasSubstr("    'log tail') words='"));
  EXPECT_THAT(bash.out, HasSubstr("    'parse --emit') words='message events sse' ;;\n"));
  EXPECT_THAT(bash.out, testing::ContainsRegex("'parse --dialect'\\) words='.*hermes.* all' ;;"));
  EXPECT_THAT(bash.out, HasSubstr("    completion) words='--help bash zsh fish' ;;\n"));

  const Ran zsh = run_command({"completion", "zsh"});
  EXPECT_EQ(zsh.out, "autoload -U +X bashcompinit && bashcompinit\n" + bash.out);

  const Ran fish = run_command({"completion", "fish"});
  EXPECT_EQ(fish.exit_code, 0);
  EXPECT_THAT(fish.out, HasSubstr("complete -c callgate -n __fish_use_subcommand -f -a dialects -d "
                                  "'List the dialects that models write calls in'\n"));
  EXPECT_THAT(fish.out,
              HasSubstr("complete -c callgate -n '__fish_seen_subcommand_from dialects' -l for\n"));
}

TEST(ManualCommand, describes_every_command_and_option) {
  const Ran man = run_command({"manual"});
  EXPECT_EQ(man.exit_code, 0);
  EXPECT_THAT(man.out, StartsWith(".TH CALLGATE 1 "));
  EXPECT_THAT(man.out, HasSubstr("\n.SS callgate log tail\n"));
  EXPECT_THAT(man.out, HasSubstr("\n\\fB\\-\\-demo\\fR\nadd the scripted demo models\n"));

  const Ran markdown = run_command({"manual", "--format", "markdown"});
  EXPECT_EQ(markdown.exit_code, 0);
  EXPECT_THAT(markdown.out, HasSubstr("\n## callgate serve\n\nRun the gateway.\n"));
  EXPECT_THAT(markdown.out, HasSubstr("\n| `--demo` | add the scripted demo models |\n"));
  for (const std::string_view command : kCommands) {
    EXPECT_THAT(markdown.out, HasSubstr("\n## callgate " + std::string(command) + "\n"));
  }
}

TEST(VersionCommand, names_commit_compiler_and_libraries) {
  const Ran text = run_command({"version"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, StartsWith("callgate " + std::string(kVersion) + "\ncommit "));
  const Ran json = run_command({"version", "--json"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_THAT(json.out, StartsWith("{\"version\":\"" + std::string(kVersion) + "\",\"commit\":\""));
  for (const std::string_view name :
       {"brotli", "cli11", "icu", "libpq", "llhttp", "openssl", "sqlite", "zlib", "zstd"}) {
    EXPECT_THAT(json.out, testing::ContainsRegex("\"" + std::string(name) + "\":\"[0-9]+\\.[0-9]"));
  }
}

}  // namespace
}  // namespace callgate::cli::app_test
