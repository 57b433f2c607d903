#include "policy/invalid_arguments.h"

#include "policy/policy_testing.h"

namespace callgate::policy::invalid_arguments_test {
namespace {

// The arguments that leave, when they come whole and when they come byte by byte.
template <class MakeStage>
std::string arguments_of(MakeStage make, std::string_view given, CallOutcome outcome) {
  std::string printed[2];
  for (const bool whole : {true, false}) {
    auto stage = make();
    EventLog log;
    stage.push(CallStarted{0, "f", ""}, log);
    for (std::size_t i = 0; i < given.size(); i += whole ? given.size() : 1) {
      stage.push(ArgumentsDelta{0, whole ? given : given.substr(i, 1)}, log);
    }
    stage.push(CallFinished{0, outcome}, log);
    EXPECT_EQ(log.calls().at(0).outcome, outcome);
    printed[whole ? 0 : 1] = log.calls().at(0).arguments;
  }
  EXPECT_EQ(printed[0], printed[1]) << given;
  return printed[0];
}

struct Row {
  std::string_view given;
  std::string_view expected;
  bool mended;
};

TEST(RepairArguments, closes_what_is_open_only_where_that_is_certain) {
  constexpr Row kRows[] = {
      {R"({"q": "tea)", R"({"q": "tea"})", true},
      {R"({"q": "tea")", R"({"q": "tea"})", true},
      {R"({"q": ["a", {"b": "c)", R"({"q": ["a", {"b": "c"}]})", true},
      {R"({"q": [)", R"({"q": []})", true},
      {R"({"q": [1])", R"({"q": [1]})", true},
      {"{", "{}", true},
      {R"({"q": tr)", R"({"q": true})", true},
      {R"({"q": "a\)", R"({"q": "a"})", true},
      {R"({"q": "a\u00)", R"({"q": "a"})", true},
      {R"({"q": "a\uD83D)", R"({"q": "a"})", true},
      {R"({"q)", R"({"q)", false},
      {R"({"q")", R"({"q")", false},
      {R"({"q":)", R"({"q":)", false},
      {R"({"q": 1)", R"({"q": 1)", false},
      {R"({"q": [1, )", R"({"q": [1, )", false},
      {R"({"q": x, "a\)", R"({"q": x, "a\)", false},
      {"", "", false},
      {R"({"q": "\uD83D\uDE00"})", R"({"q": "\uD83D\uDE00"})", false},
  };
  for (const Row& row : kRows) {
    std::uint32_t mended = 0;
    EXPECT_EQ(
        arguments_of([&] { return RepairArguments(mended); }, row.given, CallOutcome::truncated),
        row.expected);
    EXPECT_EQ(mended, row.mended ? 2u : 0u) << row.given;
  }
}

TEST(RepairArguments, sends_arguments_on_while_the_call_is_open) {
  std::uint32_t mended = 0;
  RepairArguments stage(mended);
  GrammarLog log;
  stage.push(CallStarted{0, "f", ""}, log);
  stage.push(ArgumentsDelta{0, "{\"q\": \"te"}, log);
  EXPECT_EQ(log.print(), "call 0 f\nargs 0 {\"q\": \"te\n");
}

TEST(RawArguments, wraps_what_is_no_json_value) {
  constexpr Row kRows[] = {
      {R"({"q": tea})", R"({"raw":"{\"q\": tea}"})", true},
      {R"({"q": "te)", R"({"raw":"{\"q\": \"te"})", true},
      {"{} {}", R"({"raw":"{} {}"})", true},
      {R"({"q": 1} )", R"({"q": 1} )", false},
      {"12", "12", false},
      {"", "", false},
  };
  for (const Row& row : kRows) {
    std::uint32_t mended = 0;
    EXPECT_EQ(
        arguments_of([&] { return RawArguments(1000, mended); }, row.given, CallOutcome::malformed),
        row.expected);
    EXPECT_EQ(mended, row.mended ? 2u : 0u) << row.given;
  }
}

TEST(RawArguments, passes_what_is_too_long_to_hold_back) {
  std::uint32_t mended = 0;
  EXPECT_EQ(
      arguments_of([&] { return RawArguments(4, mended); }, "not json", CallOutcome::malformed),
      "not json");
  EXPECT_EQ(mended, 0u);
}

}  // namespace
}  // namespace callgate::policy::invalid_arguments_test
