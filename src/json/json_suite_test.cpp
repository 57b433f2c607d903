// The cases of tests/suites/json_cases.txt. Where the standard leaves room the reader follows JavaScript, save for two things
// that it refuses and JavaScript lets pass: bytes that are not UTF-8 and more than kMaxDepth levels.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "base/utf8.h"
#include "json/nesting.h"
#include "json/reader.h"

namespace callgate::json::json_suite_test {
namespace {

struct SuiteCase {
  char verdict = 0;
  std::string name;
  std::string text;
};

std::string unescape_case(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      text += line[at];
    } else if (line[++at] == 'x') {
      text += static_cast<char>(std::stoi(std::string(line.substr(at + 1, 2)), nullptr, 16));
      at += 2;
    } else {
      text += line[at];
    }
  }
  return text;
}

// `@repeat 3 [ @repeat 3 ]` is `[[[]]]`.
std::string expand_case(std::string_view line) {
  constexpr std::string_view kRepeat = "@repeat ";
  std::string text;
  while (line.starts_with(kRepeat)) {
    line.remove_prefix(kRepeat.size());
    const std::size_t space = line.find(' ');
    const int count = std::stoi(std::string(line.substr(0, space)));
    const std::size_t end = std::min(line.find(" @repeat ", space), line.size());
    for (int i = 0; i < count; ++i) text += line.substr(space + 1, end - space - 1);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return text + unescape_case(line);
}

std::vector<SuiteCase> read_cases() {
  std::ifstream in(source_path("tests/suites/json_cases.txt"));
  std::vector<SuiteCase> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    const std::size_t name_end = std::min(line.find(' ', 2), line.size());
    const std::string_view rest =
        std::string_view(line).substr(std::min(name_end + 1, line.size()));
    cases.push_back({line[0], line.substr(2, name_end - 2), expand_case(rest)});
  }
  return cases;
}

bool accepts(std::string_view text) {
  Reader in(text);
  in.skip();
  return in.finish();
}

TEST(JsonSuite, is_read_as_javascript_reads_it) {
  int counts[3] = {};
  for (const SuiteCase& each : read_cases()) {
    ++counts[each.verdict == 'y' ? 0 : each.verdict == 'n' ? 1 : 2];
    bool expected = each.verdict == 'y';
    if (each.verdict == 'i') {
      const bool too_deep = each.name == "structure_500_arrays";
      const bool byte_order_mark = each.name == "structure_bom_object";
      const bool zeros = each.text.find('\0') != std::string::npos;  // UTF-16
      expected = utf8::is_valid(each.text) && !too_deep && !byte_order_mark && !zeros;
    }
    EXPECT_EQ(accepts(each.text), expected) << each.name;
  }
  EXPECT_EQ(counts[0], 95);
  EXPECT_EQ(counts[1], 188);
  EXPECT_EQ(counts[2], 35);
}

}  // namespace
}  // namespace callgate::json::json_suite_test
