// What docs/dialects.md says about calls in inline code is what each dialect does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/source_path_testing.h"
#include "chat/event_log.h"
#include "dialect/golden_testing.h"

namespace callgate::dialect::code_spans_test {
namespace {

// The rows of the table: what a call in inline code is, by dialect.
std::map<std::string, std::string, std::less<>> documented() {
  std::istringstream page(golden::read_text(source_path("docs/dialects.md")));
  std::map<std::string, std::string, std::less<>> all;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## Code spans";
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t names = line.find(" | ");
    const std::size_t verdict = names + 3;
    const std::string what = line.substr(verdict, line.find(" | ", verdict) - verdict);
    for (std::size_t at = line.find('`'); at < names; at = line.find('`', at + 1)) {
      const std::size_t end = line.find('`', at + 1);
      EXPECT_TRUE(all.emplace(line.substr(at + 1, end - at - 1), what).second) << line;
      at = end;
    }
  }
  return all;
}

// A call of the dialect, opened in inline code.
EventLog quote(const Dialect& dialect, const golden::Case& test) {
  EventLog log;
  const bool addressed = dialect.name == "functionary_v32";  // its prompt ends with the opener
  const std::string text = (addressed ? "all\nWrite `>>>" : "Write `") + test.in;
  DialectOptions options = test.options();
  options.commit = dialect.commit;
  const std::unique_ptr<DialectParser> parser = dialect.make(options);
  parser->push(text, Channel::text, log);
  parser->finish(log);
  return log;
}

class CodeSpans : public testing::TestWithParam<const Dialect*> {};

TEST_P(CodeSpans, are_what_the_documentation_says) {
  const Dialect& dialect = *GetParam();
  const auto rows = documented();
  const auto row = rows.find(dialect.name);
  ASSERT_NE(row, rows.end());
  const std::vector<golden::Case> cases = golden::cases_of(dialect);
  const auto single = std::find_if(cases.begin(), cases.end(),
                                   [](const golden::Case& test) { return test.name == "single"; });
  ASSERT_NE(single, cases.end());
  EXPECT_EQ(quote(dialect, *single).calls().empty() ? "text" : "a call", row->second);
}

TEST_P(CodeSpans, hold_tags_of_reasoning_as_text) {
  const Dialect& dialect = *GetParam();
  const std::string start = dialect.name == "functionary_v32" ? "all\n" : "";
  for (const std::string_view text : {"The tag `<think>` opens and `</think>` closes it.",
                                      "Write\n```\n<think>x</think>\n```\nonce."}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, text.size() + start.size()}) {
      EventLog log;
      const std::unique_ptr<DialectParser> parser = dialect.make({});
      const std::string all = start + std::string(text);
      for (std::size_t at = 0; at < all.size(); at += size) {
        parser->push(std::string_view(all).substr(at, size), Channel::text, log);
      }
      parser->finish(log);
      EXPECT_EQ(log.text(), text) << size;
      EXPECT_EQ(log.reasoning(), "") << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, CodeSpans, testing::ValuesIn(all().begin(), all().end()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST(CodeSpansTable, names_only_dialects) {
  for (const auto& [name, what] : documented()) EXPECT_NE(find(name), nullptr) << name;
}

}  // namespace
}  // namespace callgate::dialect::code_spans_test
