#include <algorithm>

#include "base/source_path_testing.h"
#include "callgate/dialect.h"
#include "cli/command_testing.h"
#include "json/writer.h"

namespace callgate::cli::dialects_command_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// As many as the dialect's golden file has.
int golden_cases(std::string_view dialect) {
  std::istringstream golden(
      read_file(source_path("golden/dialect/") + std::string(dialect) + ".golden"));
  int cases = 0;
  for (std::string line; std::getline(golden, line);) cases += line.starts_with("--- in") ? 1 : 0;
  return cases;
}

TEST(DialectsCommand, prints_a_table_whose_columns_line_up) {
  const Ran ran = run_command({"dialects"});
  EXPECT_EQ(ran.exit_code, 0);
  std::size_t width = 0;
  for (const Dialect* dialect : dialect::all()) width = std::max(width, dialect->name.size());
  std::istringstream lines(ran.out);
  std::string line;
  for (const Dialect* dialect : dialect::all()) {
    ASSERT_TRUE(std::getline(lines, line)) << dialect->name;
    std::string begin(dialect->name);
    begin.resize(width + 2, ' ');
    EXPECT_THAT(line, StartsWith(begin + std::string(dialect->spec)));
    EXPECT_THAT(line,
                EndsWith("  " + std::to_string(golden_cases(dialect->name)) + " golden cases"));
    std::string models;
    for (const std::string_view model : dialect->models) {
      models.append(models.empty() ? "  [" : ", ").append(model);
    }
    if (!models.empty()) models += "]  ";
    EXPECT_THAT(line, HasSubstr(models));
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST(DialectsCommand, prints_the_same_for_machines) {
  const Ran ran = run_command({"dialects", "--json"});
  EXPECT_EQ(ran.exit_code, 0);
  std::string expected = "[";
  for (const Dialect* dialect : dialect::all()) {
    if (expected.size() > 1) expected += ",";
    expected += "{\"name\":\"" + std::string(dialect->name) + "\",\"spec\":";
    json::append_string(expected, dialect->spec);
    expected += ",\"models\":[";
    for (const std::string_view model : dialect->models) {
      if (expected.back() != '[') expected += ",";
      json::append_string(expected, model);
    }
    expected += "],\"golden_cases\":" + std::to_string(golden_cases(dialect->name));
    expected +=
        dialect->commit == Commit::eager ? ",\"commit\":\"eager\"}" : ",\"commit\":\"whole_call\"}";
  }
  EXPECT_EQ(ran.out, expected + "]\n");
}

TEST(DialectsCommand, says_which_dialect_a_model_is_read_as) {
  const Ran text = run_command({"dialects", "--for", "my-model"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.out, "my-model: auto (no pattern matches the name)\n");
  const Ran json = run_command({"dialects", "--for", "my-model", "--json"});
  EXPECT_EQ(json.out,
            "{\"model\":\"my-model\",\"dialect\":\"auto\",\"reason\":\"no pattern matches the "
            "name\",\"matches\":[]}\n");
}

}  // namespace
}  // namespace callgate::cli::dialects_command_test
