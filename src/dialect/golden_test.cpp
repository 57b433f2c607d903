// Runs every golden case of every dialect at every cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "base/cuts_testing.h"
#include "base/source_path_testing.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "dialect/golden_testing.h"
#include "dialect/output.h"
#include "json/reader.h"

namespace callgate::dialect::golden_test {
namespace {

using golden::Case;

// What the pushes [0, cuts[0]), [cuts[0], cuts[1]), ... print.
std::string run(const Dialect& dialect, const Case& test, const std::vector<std::size_t>& cuts) {
  EventLog log;
  CheckedSink sink(log);
  const std::unique_ptr<DialectParser> parser = test.make(dialect);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    parser->push(std::string_view(test.in).substr(from, cut - from), test.channel, sink);
    from = cut;
  }
  parser->push(std::string_view(test.in).substr(from), test.channel, sink);
  if (test.cut_off) parser->cut_off();
  parser->finish(sink);
  if (const auto* audited = dynamic_cast<const AuditedParser*>(parser.get())) {
    EXPECT_EQ(audited->audit().sum(), test.in.size()) << test.name << ": bytes went astray";
  }
  return print(log.events());
}

void expect_json_arguments(const Dialect& dialect, const Case& test) {
  EventLog log;
  const std::unique_ptr<DialectParser> parser = test.make(dialect);
  parser->push(test.in, test.channel, log);
  if (test.cut_off) parser->cut_off();
  parser->finish(log);
  for (const LoggedCall& call : log.calls()) {
    if (call.outcome != CallOutcome::complete) continue;
    json::Reader reader(call.arguments);
    reader.skip();
    EXPECT_TRUE(reader.finish()) << test.name << ": " << call.arguments;
  }
}

void expect_case(const Dialect& dialect, const Case& test) {
  ASSERT_EQ(run(dialect, test, {}), test.out) << test.name;
  expect_json_arguments(dialect, test);
  for (const std::vector<std::size_t>& cuts : every_cut(test.in.size())) {
    ASSERT_EQ(run(dialect, test, cuts), test.out) << test.name << " cut at " << cuts.front();
  }
  std::vector<std::size_t> each;
  for (std::size_t cut = 1; cut < test.in.size(); ++cut) each.push_back(cut);
  ASSERT_EQ(run(dialect, test, each), test.out) << test.name << " byte by byte";
  std::minstd_rand random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::size_t> cuts;
    const std::size_t stride = 2 + random() % 16;
    for (std::size_t at = random() % stride; at < test.in.size(); at += 1 + random() % stride) {
      cuts.push_back(at);
    }
    ASSERT_EQ(run(dialect, test, cuts), test.out) << test.name << " random round " << round;
  }
}

class Golden : public testing::TestWithParam<const Dialect*> {};

TEST_P(Golden, comes_out_the_same_at_every_cut) {
  const std::vector<Case> cases = golden::cases_of(*GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Case& test : cases) {
    if (test.reason.empty()) expect_case(*GetParam(), test);
  }
}

TEST_P(Golden, has_every_required_case_once) {
  std::multiset<std::string> names;
  for (const Case& test : golden::cases_of(*GetParam())) {
    names.insert(test.name);
    EXPECT_TRUE(!test.reason.empty() || !test.in.empty()) << test.name << " has no input";
  }
  std::istringstream required(golden::read_text(source_path("golden/required_cases.txt")));
  for (std::string name; std::getline(required, name);) {
    EXPECT_TRUE(name.empty() || names.count(name) == 1) << name;
  }
  for (const std::string& name : names) EXPECT_EQ(names.count(name), 1u) << name;
}

INSTANTIATE_TEST_SUITE_P(Dialects, Golden, testing::ValuesIn(all().begin(), all().end()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST(GoldenFiles, belong_to_a_dialect_each) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("golden/dialect"))) {
    ++files;
    EXPECT_NE(find(entry.path().stem().string()), nullptr) << entry.path();
  }
  EXPECT_EQ(files, all().size());
}

TEST(Registry, is_sorted_by_name_and_complete) {
  EXPECT_TRUE(std::is_sorted(all().begin(), all().end(),
                             [](const Dialect* a, const Dialect* b) { return a->name < b->name; }));
  for (const Dialect* dialect : all()) {
    EXPECT_EQ(find(dialect->name), dialect);
    EXPECT_FALSE(dialect->spec.empty()) << dialect->name;
    EXPECT_TRUE(dialect->make) << dialect->name;
  }
  EXPECT_EQ(find("no_such_dialect"), nullptr);
}

}  // namespace
}  // namespace callgate::dialect::golden_test
