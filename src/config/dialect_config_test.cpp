#include "config/dialect_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/mistakes.h"

namespace callgate::server::dialect_config_test {
namespace {

constexpr std::string_view kGood = R"toml(
[[dialect]]
name = "mine"
models = ["acme-*"]
call = "<call>{json}</call>"
name_member = "tool"
golden = """
=== one_call
--- in
<call>{"tool": "f", "arguments": {}}</call>
--- out
call 0 f
args 0 {}
end 0 complete
"""

[[upstream]]
name = "u"
url = "http://127.0.0.1:1/v1"

[[model]]
name = "m"
upstream = "u"
dialect = "mine"

[[model]]
name = "acme-1"
upstream = "u"
)toml";

std::string mistakes_of(std::string text) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("callgate_dialect_" + std::to_string(::getpid()) + ".toml"))
                               .string();
  std::ofstream(file) << text;
  ExaminedConfig examined = examine_config({.file = file, .sets = {}});
  for (Mistake& each : find_golden_failures(examined.config)) {
    examined.mistakes.push_back(std::move(each));
  }
  locate(examined.mistakes, examined.lines);
  std::filesystem::remove(file);
  const std::string found = to_text(examined.mistakes, "c.toml");
  return found.empty() ? found : found + "\n";
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kGood);
  return text.replace(text.find(from), from.size(), to);
}

TEST(DialectConfig, reads_a_dialect_that_models_may_name_or_match) {
  EXPECT_EQ(mistakes_of(std::string(kGood)), "");
  const auto config = parse_config(kGood, "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  const dialect::Catalog dialects = make_catalog(*config);
  ASSERT_NE(dialects.find("mine"), nullptr);
  EXPECT_EQ(dialects.choose_for("acme-1").dialect->name, "mine");
  EXPECT_NE(print_config(*config).find("# dialect: mine, by the name of the model"),
            std::string::npos);
  EXPECT_NE(print_differences(*config).find("[[dialect]]\nname = \"mine\""), std::string::npos);
}

TEST(DialectConfig, reports_mistakes_with_their_line_and_what_was_found) {
  EXPECT_EQ(mistakes_of(replaced("{json}", "{jsn}")),
            "c.toml:5: dialect \"mine\": call: expected a text with {json}, {python}, {name} and "
            "{arguments}, or {name} and {parameters}, got \"<call>{jsn}</call>\"\n"
            "c.toml:24: model \"m\": unknown dialect \"mine\"; `callgate dialects` lists them\n");
  EXPECT_EQ(
      mistakes_of(replaced("name = \"mine\"", "name = \"hermes\"")),
      "c.toml:3: dialect \"hermes\": name: \"hermes\" is a built-in dialect; choose another "
      "name, such as \"my_hermes\"\nc.toml:24: model \"m\": unknown dialect \"mine\"; `callgate "
      "dialects` lists them\n");
  EXPECT_EQ(mistakes_of(replaced("name_member", "name_membr")),
            "c.toml:6: unknown key `dialect.name_membr`, did you mean `dialect.name_member`?\n"
            "c.toml:7: dialect \"mine\": golden: line 1: case \"one_call\": expected `call 0 f`, "
            "got `text \"<call>{\\\"tool\\\": \\\"f\\\", \\\"arguments\\\": {}}</call>\"`\n");
  EXPECT_EQ(mistakes_of(replaced("dialect = \"mine\"", "dialect = \"mine\"\ntools = \"prompt\"")),
            "c.toml:25: model \"m\": tools = \"prompt\" cannot teach \"mine\", a dialect of your "
            "own; describe it in the system prompt and use tools = \"text\", or choose a built-in "
            "dialect\n");
}

TEST(DialectConfig, runs_golden_cases_of_a_file_and_reports_one_that_is_missing) {
  const std::string gone =
      replaced("golden = \"\"\"", "golden = \"/no/such.golden\"\ndescription = \"\"\"");
  EXPECT_EQ(mistakes_of(gone),
            "c.toml:7: dialect \"mine\": golden /no/such.golden: it cannot be read\n");
  const std::string file =
      (std::filesystem::temp_directory_path() / "callgate_mine.golden").string();
  std::ofstream(file) << "=== a\n--- in\nHi\n--- out\ntext \"Hi\"\n";
  const std::string here =
      replaced("golden = \"\"\"", "golden = \"" + file + "\"\ndescription = \"\"\"");
  EXPECT_EQ(mistakes_of(here), "");
  std::ofstream(file) << "nothing\n";
  EXPECT_EQ(mistakes_of(here), "c.toml:7: dialect \"mine\": golden " + file +
                                   ": there is no case; one begins with `=== name`\n");
  std::filesystem::remove(file);
}

TEST(DialectConfig, bounds_their_number) {
  std::string many;
  for (int i = 0; i < 33; ++i) {
    many += "[[dialect]]\nname = \"d" + std::to_string(i) + "\"\ncall = \"<c>{json}</c>\"\n";
  }
  EXPECT_EQ(mistakes_of(many), "c.toml:97: dialect: expected at most 32, got 33\n");
}

}  // namespace
}  // namespace callgate::server::dialect_config_test
