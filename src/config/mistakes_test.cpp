// Every mistake of a file, each with its place, what was found, and a hint.
#include "config/mistakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/text_expansion.h"
#include "json/reader.h"

namespace callgate::server::mistakes_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class MistakesTest : public testing::Test {
 protected:
  MistakesTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("callgate-") + test->name() + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~MistakesTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  // All that `callgate config check` says, with `f` for the file.
  std::string mistakes(const std::string& text, const std::vector<std::string>& sets = {}) const {
    const ConfigSource source{.file = write("callgate.toml", text), .sets = sets};
    ExaminedConfig examined = examine_config(source);
    for (auto* find : {find_missing_files, find_oddities}) {
      for (Mistake& mistake : find(examined.config)) {
        examined.mistakes.push_back(std::move(mistake));
      }
    }
    locate(examined.mistakes, examined.lines);
    return to_text(examined.mistakes, "f");
  }

  std::filesystem::path folder_;
};

constexpr std::string_view kGood = R"([[upstream]]
name = "local"
url = "http://127.0.0.1:8000/v1"
[[model]]
name = "m"
upstream = "local"
)";

TEST_F(MistakesTest, says_what_is_missing_for_rooms_that_gateways_share) {
  const std::string rest =
      "[[upstream]]\nname = \"a\"\nurl = \"http://h/v1\"\n[[model]]\nname = "
      "\"m\"\nupstream = \"a\"\n[[key]]\nname = \"k\"\nsecret = "
      "\"sk-long-enough-for-a-secret\"\n";
  const std::string shared = "[store]\nurl = \"postgresql://db/callgate\"\n";
  const std::string everywhere = "listen = \"0.0.0.0:8080\"\n";
  EXPECT_THAT(mistakes(everywhere + shared + rest), HasSubstr("rooms.advertise: missing"));
  EXPECT_THAT(mistakes("listen = \"10.0.0.11:8080\"\n" + shared + rest),
              Not(HasSubstr("rooms.advertise")));
  EXPECT_THAT(mistakes(everywhere + shared + "[rooms]\nadvertise = \"off\"\n" + rest),
              Not(HasSubstr("rooms.advertise")));
  EXPECT_THAT(mistakes(everywhere + shared + "[rooms]\nadvertise = \"node1\"\n" + rest),
              HasSubstr("expected http://host:port, https://host:port or off"));
  EXPECT_THAT(mistakes("[rooms]\nadvertise = \"http://a:1\"\n" + rest),
              HasSubstr("gateways share rooms on one PostgreSQL only"));
}

TEST_F(MistakesTest, are_none_in_a_good_file) { EXPECT_EQ(mistakes(std::string(kGood)), ""); }

// What people write, and what they are told.
TEST_F(MistakesTest, say_where_what_and_how) {
  const std::string good(kGood);
  const std::pair<std::string, std::string> cases[] = {
      {"[[upstream]]\nname = \"a\"\nurl = \"http://h:1\"\n",
       "f:3: warning: upstream \"a\": its URL may lack /v1"},
      {"[[upstream]]\nname = \"a\"\nwire = \"ollama\"\nurl = \"http://h:1/v1\"\n",
       "f:4: warning: upstream \"a\": its URL should end before /v1"},
      {"[[upstream]]\nname = \"a\"\nurl = \"http://h:1/v1/chat/completions\"\n",
       "f:3: warning: upstream \"a\": its URL should end before /chat/completions"},
      {"[[key]]\nname = \"a\"\nsecret = \"long-enough-1\"\nmodels = []\n[[key]]\nname = "
       "\"b\"\nsecret = "
       "\"long-enough-1\"\nmodels = []\n",
       "f:7: key \"b\": it has the same secret as key \"a\""},
      {"[[upstream]]\nname = \"a\"\nurl = \"http://h/v1\"\nwire = \"openai\"\n",
       "f:4: upstream \"a\": unknown wire \"openai\", did you mean \"openai_chat\"? known are "},
      {"listen = 127.0.0.1:8080\n", "strings are written in quotes"},
      {good + "listen = \"127.0.0.1:1\"\n",
       "f:7: `listen` is a top-level key: write it above the first [table], not in [model]"},
      {"[tls]\ncert = \"nope.pem\"\nkey = \"nope.key\"\n",
       "f:2: nope.pem: No such file or directory\nf:3: nope.key: No such file or directory"},
      {"[store]\nurl = \"mysql://x\"\n", "f:2: "},
      {"[[upstream]]\nname = \"a\"\n", "f:1: upstream \"a\": url is missing"},
      {"[[upstream]]\nname = \"local\"\nurl = \"http://h/v1\"\n[[model]]\nname = \"m\"\nupstream = "
       "\"locl\"\n",
       "f:6: model \"m\": there is no [[upstream]] named \"locl\", did you mean \"local\"?"},
      {good + "[[model]]\nname = \"m\"\nupstream = \"local\"\n",
       "f:8: two [[model]] are named \"m\""},
      {good + "dialect = \"hermess\"\n",
       "f:7: model \"m\": unknown dialect \"hermess\", did you mean \"hermes\"?"},
      {"listen = \"nowhere\"\n", "f:1: listen \"nowhere\": expected host:port or unix:/path"},
      {"[[tool]]\nname = \"t\"\nkind = \"htp\"\n",
       "f:1: tool \"t\": kind must be http, command, mcp, web_search or builtin, got \"htp\", did "
       "you mean \"http\"?"},
      {good + "title_model = \"nope\"\n",
       "f:7: model \"m\": title_model: there is no [[model]] named \"nope\""},
      {good + "dialect = \"zzzzzzzz\"\n",
       "f:7: model \"m\": unknown dialect \"zzzzzzzz\"; `callgate dialects` lists them"},
      {good + "id = \"open\n", "is a closing quote or bracket missing?"},
      {"maintenance = \"yes\"\n", "f:1: maintenance: expected true or false, got \"yes\""},
      {"threads = \"two\"\n", "f:1: threads: expected a whole number, 0 or more, got \"two\""},
      {"threads = -1\n", "f:1: threads: expected a whole number, 0 or more, got -1"},
      {"[limits]\nmax_body = true\n", ", got true"},
      {"[log]\nlevel = \"loud\"\n",
       "f:2: log.level must be debug, info, warning, error or off, got \"loud\""},
      {"[[key]]\nname = \"a\"\nsecret = 12345678\nmodels = []\n",
       "f:3: key.secret: expected a string"},
      {"[[tool]]\nname = \"get weather\"\nkind = \"builtin\"\n",
       "f:2: warning: tool \"get weather\": most models take letters, digits, _ and -"},
      {"[[tool]]\nname = \"t\"\nkind = \"command\"\ndescription = \"d\"\ncommand = \"wc -w\"\n",
       "f:5: there is no program \"wc -w\"; write command = [\"program\", \"argument\"]"},
      {"[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"https://h/{city}\"\ndescription = \"d\"\n",
       "f:4: warning: tool \"t\": url: unknown parameter \"city\""},
      {"[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"http://127.0.0.1:9/\"\ndescription = "
       "\"d\"\n",
       "addresses = [\"127.0.0.0/8\"]"},
      {"[[tool]]\nname = \"t\"\nkind = \"mcp\"\nurl = \"http://[::1]:9/mcp\"\n",
       "f:4: warning: tool \"t\": calls to this machine are refused"},
      {"[[hook]]\nname = \"h\"\nurl = \"https://localhost/\"\n",
       "f:3: warning: hook \"h\": calls to this machine are refused"},
      {"listen = \"unix:/no/such/callgate.sock\"\n",
       "f:1: warning: /no/such: there is no such folder"},
      {"[store]\nurl = \"sqlite:/no/such/callgate.db\"\n",
       "f:2: warning: /no/such: there is no such folder"},
      {"[store]\njournal = \"/no/such/journal\"\n",
       "f:2: warning: /no/such: there is no such folder"},
      {"[capture]\ndir = \"/no/such\"\n", "f:2: /no/such: there is no such folder"},
      {"[[tool]]\nname = \"t\"\nkind = \"command\"\ndescription = \"d\"\ncommand = [\"sh\"]\n"
       "folder = \"/no/such\"\n",
       "f:6: warning: /no/such: there is no such folder"},
      {"[[upstream]]\nname = \"a\"\nurl = \"http://h/v1\"\nkey_file = \"/no/such/key\"\n",
       "f:4: warning: key_file: /no/such/key: No such file or directory; `callgate login a` writes "
       "it"},
      {"[[upstream]]\nname = \"a\"\nurl = \"http://h/v1\"\nlogin_command = [\"x\"]\n",
       "f:4: upstream \"a\": login_command needs key_file"},
      {good + "loop_tools = [\"find_*\"]\n",
       "f:7: warning: model \"m\": loop_tools: \"find_*\" matches no tool"},
      {good + "[[key]]\nname = \"k\"\nsecret = \"long-enough-1\"\ntools = [\"x\"]\n",
       "f:10: warning: key \"k\": tools: \"x\" matches no tool"},
      {good + "[[price]]\nmodel = \"gpt-*\"\n",
       "f:8: warning: price: model: \"gpt-*\" matches no model"},
      {good + "[[price]]\nmodel = \"m\"\nupstream = \"locl\"\n",
       "f:9: warning: price: upstream: \"locl\" matches no upstream"},
      {good + "[[hook]]\nname = \"h\"\nurl = \"https://h/\"\ntools = [\"x\"]\nmodels = [\"y\"]\n",
       "f:10: warning: hook \"h\": tools: \"x\" matches no tool\nf:11: warning: hook \"h\": "
       "models: "
       "\"y\" matches no model"},
      {good + "[[key]]\nname = \"k\"\nsecret = \"x\"\n",
       "f:9: warning: key \"k\": its secret is short enough to be guessed"},
      {good + "[[key]]\nname = \"k\"\nsecret = \"long-enough-1\"\nmodels = [\"gpt-*\"]\n",
       "f:10: warning: key \"k\": models: \"gpt-*\" matches no model"},
      {good + "[[key]]\nname = \"k\"\nsecret = \"long-enough-1\"\ndeny_tools = [\"rm\"]\n",
       "f:10: warning: key \"k\": deny_tools: \"rm\" matches no tool"},
      {"[capture]\ndir = \"/nowhere/at/all\"\n", "f:2: /nowhere/at/all: there is no such folder"},
      {"[[upstream]]\nname = \"a\"\nurl = \"https://h/v1\"\nca_file = \"none.pem\"\n",
       "f:4: none.pem: No such file or directory"},
      {good + "balance = \"random\"\n", "f:7: model \"m\": balance must be round_robin, "},
      {"[[model]]\nname = \"m\"\npool = [{ upstrem = \"a\" }]\n",
       "did you mean `model.pool.upstream`?"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(mistakes(text), HasSubstr(message)) << text;
}

TEST_F(MistakesTest, come_all_at_once_in_the_order_of_the_file) {
  const std::string all = mistakes(R"(threads = "many"
lissen = "x"
[log]
level = "loud"
[[upstream]]
name = "a"
wire = "openai"
dropped_fieldz = 1
[[model]]
name = "m"
upstream = "b"
dialect = "nope"
)");
  std::vector<std::string> lines;
  std::istringstream in(all);
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(0, line.find(": ")));
  EXPECT_THAT(lines, testing::ElementsAre("f:1", "f:2", "f:4", "f:7", "f:8", "f:11", "f:12"))
      << all;
}

TEST_F(MistakesTest, do_not_follow_from_one_another) {
  EXPECT_EQ(mistakes("[[upstream]]\nname = \"a\"\nurl = 5\n"),
            "f:3: upstream.url: expected a string, got 5");
  EXPECT_EQ(mistakes("[upstream]\nname = \"a\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\n"),
            "f:1: upstream: expected a list of tables, written [[upstream]]");
}

TEST_F(MistakesTest, name_files_and_tables_that_are_not_there) {
  const std::string none = (folder_ / "none.toml").string();
  EXPECT_EQ(load_config({.file = none, .sets = {}}).error().message,
            none + ": No such file or directory");
  EXPECT_THAT(load_config({.file = folder_.string(), .sets = {}}).error().message,
              HasSubstr("it is a folder"));
  EXPECT_THAT(mistakes("", {"model.foo.dialect=x"}),
              HasSubstr("--set model.foo.dialect: there is no [[model]] \"foo\""));
  EXPECT_EQ(mistakes(std::string(kGood), {"limits.max_strems=5"}),
            "--set limits.max_strems: unknown key `limits.max_strems`, did you mean "
            "`limits.max_streams`?");
  EXPECT_EQ(mistakes(std::string(kGood), {"threads=two"}).substr(0, 14), "--set threads:");
  EXPECT_THAT(mistakes(std::string(kGood), {"model.foo.dialect=x"}),
              HasSubstr("--set model.foo.dialect: there is no [[model]] \"foo\""));
}

TEST_F(MistakesTest, nothing_is_printed_for_a_key_that_a_file_has) {
  const ConfigSource source{
      .file = write("callgate.toml", std::string(kGood) + "[[upstream]]\nname = \"a\"\nurl = "
                                                          "\"http://h/v1\"\nkey_file = \"k\"\n"),
      .sets = {}};
  const std::string printed = print_differences(examine_config(source).config);
  EXPECT_THAT(printed, HasSubstr("key_file = \"k\""));
  EXPECT_THAT(printed, Not(HasSubstr("\nkey = ")));
}

TEST_F(MistakesTest, show_no_secret) {
  EXPECT_THAT(mistakes("[[key]]\nname = \"a\"\nsecret = 87654321\n"), Not(HasSubstr("87654321")));
  EXPECT_THAT(
      mistakes("[[upstream]]\nname = \"a\"\nurl = \"http://h/v1\"\nheaders = \"x: hunter2\"\n"),
      Not(HasSubstr("hunter2")));
  EXPECT_THAT(mistakes("[[upstream]]\nname = \"a\"\nurl = \"htp://me:hunter2@h/v1\"\n"),
              Not(HasSubstr("hunter2")));
}

TEST(TextExpansion, knows_variables_defaults_files_and_dollars) {
  ::setenv("CALLGATE_TEST_SET", "value", 1);
  ::setenv("CALLGATE_TEST_EMPTY", "", 1);
  ::unsetenv("CALLGATE_TEST_UNSET");
  const auto file =
      std::filesystem::temp_directory_path() / ("callgate-secret-" + std::to_string(::getpid()));
  std::ofstream(file) << "from a file\n";
  const std::pair<std::string, std::string> cases[] = {
      {"plain", "plain"},
      {"a${CALLGATE_TEST_SET}b", "avalueb"},
      {"${CALLGATE_TEST_SET:-x}", "value"},
      {"${CALLGATE_TEST_UNSET:-x y}", "x y"},
      {"${CALLGATE_TEST_EMPTY:-x}", "x"},
      {"${CALLGATE_TEST_EMPTY}", ""},
      {"${CALLGATE_TEST_UNSET:-}", ""},
      {"${file:" + file.string() + "}", "from a file"},
      {"$${CALLGATE_TEST_SET}", "${CALLGATE_TEST_SET}"},
      {"5$ and $$", "5$ and $"},
      {"${open", "${open"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(expand_text(text).value(), expected) << text;
  std::filesystem::remove(file);
  EXPECT_EQ(expand_text("kill $$; $${A} ${CALLGATE_TEST_SET}", Dollars::before_braces).value(),
            "kill $$; ${A} value")
      << "as a shell wants it";
  EXPECT_EQ(expand_text("${CALLGATE_TEST_UNSET}").error().message,
            "environment variable CALLGATE_TEST_UNSET is not set");
  EXPECT_THAT(expand_text("${file:/nowhere/secret}").error().message, HasSubstr("/nowhere/secret"));
}

TEST(PrintDifferences, shows_what_was_written_and_how_a_model_is_read) {
  const auto config = parse_config(
      "[limits]\nmax_streams = 7\n[[upstream]]\nname = \"a\"\nurl = \"http://u:p@h/v1\"\n", "f");
  ASSERT_FALSE(config) << "user names in URLs are refused";
  const auto good = parse_config(std::string(kGood) + "id = \"Qwen/Qwen3-Coder\"\n", "f");
  ASSERT_TRUE(good);
  const std::string text = print_differences(*good);
  EXPECT_EQ(
      text,
      "[[upstream]]\nname = \"local\"\nurl = \"http://127.0.0.1:8000/v1\"\n\n[[model]]\nname = "
      "\"m\"\nupstream = [\"local\"]\nid = \"Qwen/Qwen3-Coder\"\n# dialect: qwen3_coder, by the "
      "name of the model\n");
  EXPECT_TRUE(parse_config(text, "printed"));
}

TEST(PrintSchema, is_json_and_has_every_section) {
  const std::string schema = print_schema();
  json::Reader in(schema);
  in.skip();
  EXPECT_TRUE(in.finish());
  for (const char* key : {"\"listen\"", "\"upstream\"", "\"first_byte_timeout\"", "\"pool\"",
                          "\"model\"", "\"secret\"", "\"rooms\""}) {
    EXPECT_THAT(schema, HasSubstr(key));
  }
}

}  // namespace
}  // namespace callgate::server::mistakes_test
