#include "cli/smoke_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/source_path_testing.h"
#include "callgate/dialect.h"
#include "client/openai_chat/openai_chat.h"
#include "contract/event_contract.h"
#include "contract/object_contract.h"
#include "contract/smoke_request.h"
#include "dialect/render/render.h"

namespace callgate::cli::smoke_report_test {
namespace {

using contract::RuleVerdict;
using contract::Verdict;
using testing::HasSubstr;

std::string row(std::string_view name, std::string_view asks) {
  return "| `" + std::string(name) + "` | " + std::string(asks) + " |";
}

TEST(Smoke, the_page_lists_every_rule_and_no_other) {
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < contract::kContractRuleCount; ++i) {
    const contract::ContractRuleText text = text_of(static_cast<contract::ContractRule>(i));
    expected.push_back(row(text.name, text.asks));
  }
  for (const SmokeRuleText& text : kSmokeRules) expected.push_back(row(text.name, text.asks));
  for (const contract::ObjectRule& rule : contract::object_rules()) {
    expected.push_back(row(rule.name, rule.asks));
  }
  for (const auto rules :
       {contract::event_rules(), contract::responses_rules(), contract::messages_rules()}) {
    for (const contract::ObjectRule& rule : rules) expected.push_back(row(rule.name, rule.asks));
  }
  std::ifstream page(source_path("docs/smoke.md"));
  ASSERT_TRUE(page);
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `") && !line.starts_with("| `--")) rows.push_back(line);
  }
  EXPECT_EQ(rows, expected);
}

TEST(Smoke, the_request_is_one_that_our_own_gateway_takes) {
  contract::SmokeQuestion options{
      .model = "a \"model\"", .include_usage = true, .force_tool = true};
  const Result<Request> forced = client::decode_openai_chat(contract::smoke_request(options));
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_EQ(forced->model, "a \"model\"");
  EXPECT_TRUE(forced->stream && forced->include_usage);
  ASSERT_EQ(forced->tools.size(), 1u);
  EXPECT_EQ(forced->tool_choice.name, forced->tools[0].name);
  options.force_tool = options.include_usage = false;
  options.temperature.clear();
  const Result<Request> plain = client::decode_openai_chat(contract::smoke_request(options));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->tool_choice.mode, ToolChoice::Mode::automatic);
  EXPECT_FALSE(plain->include_usage);
  EXPECT_TRUE(plain->extra.empty());
}

TEST(Smoke, the_markers_find_the_calls_of_every_dialect) {
  const std::vector<CallRecord> calls{{.id = {},
                                       .name = contract::smoke_tool().name,
                                       .arguments = R"({"city":"Paris"})",
                                       .extra = {}}};
  const auto markers = contract::smoke_markers();
  for (const Dialect* dialect : dialect::all()) {
    std::string text;
    if (!dialect::render_calls(dialect->name, calls, text)) continue;
    EXPECT_TRUE(std::any_of(
        markers.begin(), markers.end(),
        [&](std::string_view marker) { return text.find(marker) != std::string::npos; }))
        << dialect->name << ": " << text;
  }
}

TEST(Smoke, times_are_given_by_their_nearest_rank) {
  const Spread one = spread_of({3});
  EXPECT_EQ(one.min + one.median + one.p95, 9);
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  const Spread many = spread_of(values);
  EXPECT_EQ(many.min, 1);
  EXPECT_EQ(many.median, 50);
  EXPECT_EQ(many.p95, 95);
}

TEST(Smoke, a_rule_that_failed_once_has_failed) {
  const RuleVerdict pass{"done_once", Verdict::pass, "one [DONE]"};
  const RuleVerdict fail{"done_once", Verdict::fail, "no [DONE]"};
  std::vector<SmokeAnswer> answers(3);
  answers[0].verdicts = answers[2].verdicts = {pass};
  answers[1].verdicts = {fail};
  EXPECT_EQ(merge_verdicts(answers)[0].seen, "answer 2: no [DONE]");
  answers[1].verdicts = {pass};
  EXPECT_EQ(merge_verdicts(answers)[0], pass);
}

TEST(Smoke, both_forms_say_the_same) {
  SmokeReport report{.url = "http://x/v1",
                     .model = "m",
                     .hash = "ab",
                     .file = "smoke/m.sse",
                     .dialects = {"hermes"},
                     .advice = "this is hermes",
                     .verdicts = {{"done_once", Verdict::fail, "no \"[DONE]\""}}};
  report.times.resize(2);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(print_text(report), HasSubstr("FAIL  done_once  no \"[DONE]\"\n"));
  EXPECT_THAT(print_text(report), HasSubstr("0 rules passed, 1 failed, 0 did not apply"));
  const std::string json = print_json(report);
  EXPECT_THAT(json, HasSubstr(R"({"rule":"done_once","verdict":"fail","seen":"no \"[DONE]\""})"));
  EXPECT_THAT(json, HasSubstr(R"("passed":false)"));
  EXPECT_THAT(json, HasSubstr(R"("advice":"this is hermes","dialects":["hermes"])"));
  EXPECT_THAT(print_text(report), HasSubstr("\nthis is hermes\nsmoke/m.sse  ab\n"));
  EXPECT_THAT(json, HasSubstr(R"("total":{"min":0.00,"median":0.00,"p95":0.00})"));
}

class SmokeFiles : public testing::Test {
 protected:
  void SetUp() override {
    record_.folder = testing::TempDir() + "smoke_" +
                     testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(record_.folder);
    record_.name = "m";
  }
  void TearDown() override { std::filesystem::remove_all(record_.folder); }

  std::string keep(std::string_view bytes, const std::vector<std::string>& hashes,
                   bool passed = true) {
    const Result<SmokeKept> kept = keep_record(record_, bytes, hashes, passed);
    return kept ? std::string(to_string(kept->verdict.verdict)) : kept.error().message;
  }
  std::string read(std::string_view extension) const {
    std::ifstream in(record_.path(extension), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  SmokeRecord record_;
  const std::string a_ = std::string(64, 'a');
  const std::string b_ = std::string(64, 'b');
};

TEST_F(SmokeFiles, keep_the_answer_until_another_one_is_accepted) {
  EXPECT_EQ(keep("one", {a_}), "not_applicable");
  EXPECT_EQ(keep("same", {a_, a_}), "pass");
  EXPECT_EQ(read(".sse"), "same");
  EXPECT_EQ(keep("other", {b_}), "fail");
  EXPECT_EQ(read(".sse"), "same");
  EXPECT_EQ(read(".new.sse"), "other");
  record_.update = true;
  EXPECT_EQ(keep("other", {b_}), "pass");
  EXPECT_EQ(read(".sse"), "other");
  EXPECT_EQ(read(".new.sse"), "");
  EXPECT_TRUE(read(".sha256").starts_with(b_));
}

TEST_F(SmokeFiles, never_take_a_failed_run_for_the_accepted_one) {
  EXPECT_EQ(keep("broken", {a_}, false), "not_applicable");
  EXPECT_EQ(read(".sha256"), "");
  EXPECT_EQ(read(".sse"), "");
  EXPECT_EQ(read(".new.sse"), "broken");
  EXPECT_EQ(keep("good", {b_}), "not_applicable") << "the server was mended: nothing to compare";
  EXPECT_EQ(read(".sse"), "good");
  record_.update = true;
  EXPECT_EQ(keep("broken", {a_}, false), "not_applicable");
  EXPECT_EQ(read(".sse"), "good");
  EXPECT_EQ(read(".new.sse"), "broken");
  record_.update = false;
  EXPECT_EQ(keep("broken", {a_}, false), "fail");
  EXPECT_TRUE(read(".sha256").starts_with(b_));
}

TEST_F(SmokeFiles, are_written_only_on_request) {
  const std::string folder = std::exchange(record_.folder, "");
  EXPECT_EQ(keep("one", {a_}), "not_applicable");
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(SmokeFiles, answers_of_one_run_must_be_the_same) {
  EXPECT_EQ(keep("one", {a_, b_}), "fail");
  EXPECT_EQ(read(".sse"), "");
  record_.update = true;
  EXPECT_EQ(keep("one", {a_, b_}), "pass");
}

TEST_F(SmokeFiles, that_cannot_be_written_are_an_error) {
  std::ofstream(record_.folder) << "a file";
  EXPECT_THAT(keep("one", {a_}), HasSubstr(record_.folder));
}

TEST_F(SmokeFiles, are_named_like_the_model_as_far_as_names_go) {
  EXPECT_EQ(to_file_name("Qwen/Qwen3-8B:latest"), "Qwen_Qwen3-8B_latest");
  EXPECT_EQ(to_file_name("../../x"), "_._.._x");
  EXPECT_EQ(to_file_name(""), "answer");
}

}  // namespace
}  // namespace callgate::cli::smoke_report_test
