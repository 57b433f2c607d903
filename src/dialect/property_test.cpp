// Golden inputs, cut up and put together again at random: whatever comes out, it does not depend on the cuts.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "dialect/golden_testing.h"
#include "dialect/oracle_testing.h"
#include "json/writer.h"

namespace callgate::dialect::property_test {
namespace {

using golden::Case;

class Mutations {
 public:
  Mutations(const std::vector<Case>& cases, std::uint64_t seed) : cases_(cases), random_(seed) {}

  std::string next() {
    std::string text = pick();
    for (std::size_t left = 1 + below(4); left > 0; --left) mutate(text);
    return text.substr(0, 2000);
  }
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

 private:
  const std::string& pick() { return cases_[below(cases_.size())].in; }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t count = below(24);
    switch (below(6)) {
      case 0:
        text.erase(at, count);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size() + 1), 8 + count));
        break;
      case 2:
        text = text.substr(0, at) + pick();
        break;
      case 3: {
        const std::string& other = pick();
        text.insert(at, other.substr(below(other.size() + 1), 8 + count));
        break;
      }
      case 4:
        text.resize(at);
        break;
      default: {
        constexpr std::string_view kBytes = "{}[]<>\"\\\n :,|`'=/\t\x01\xC3\xE2\xF0\x80u0";
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      }
    }
  }

  const std::vector<Case>& cases_;
  std::mt19937_64 random_;
};

// Whether somebody asks why markup stayed text changes nothing else.
class BoundedExplainer final : public Explainer {
 public:
  void stayed_text(const StayedText& text) override {
    EXPECT_LE(text.begin, text.end);
    EXPECT_FALSE(text.reason.empty());
  }
};

class Property : public testing::TestWithParam<const Dialect*> {};

TEST_P(Property, holds_for_golden_inputs_put_together_at_random) {
  std::vector<Case> cases = golden::cases_of(*GetParam());
  std::erase_if(cases, [](const Case& test) { return !test.reason.empty(); });
  ASSERT_FALSE(cases.empty());
  // More rounds from another seed: CALLGATE_PROPERTY_ROUNDS, CALLGATE_PROPERTY_SEED.
  const char* rounds_text = std::getenv("CALLGATE_PROPERTY_ROUNDS");
  const char* seed_text = std::getenv("CALLGATE_PROPERTY_SEED");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 300;
  Mutations mutations(cases, seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 1);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = mutations.next();
    const Case& like = cases[mutations.below(cases.size())];
    DialectOptions options = like.options();
    options.commit = mutations.below(3) == 0 ? Commit::whole_call : Commit::eager;
    if (mutations.below(8) == 0) options.max_held_back = 1 + mutations.below(200);
    BoundedExplainer explainer;
    if (round % 2 == 0) options.explain = &explainer;
    const std::string fault =
        oracle::check(*GetParam(), options, like.channel, text, static_cast<std::uint64_t>(round));
    std::string shown;
    json::append_string(shown, text);
    ASSERT_EQ(fault, "") << "round " << round
                         << (options.commit == Commit::eager ? "" : " whole_call") << " limit "
                         << options.max_held_back << (like.reasoning_open ? " open" : "") << "\n"
                         << shown;
  }
}

// Calls that are begun again and again and never end must not be read again and again. A parser that does needs minutes
// for these; one that does not, a part of a second, with sanitizers one or two.
TEST(Linear, reads_openers_without_end_once) {
  struct Row {
    std::string_view dialect;
    std::string_view text;
  };
  constexpr Row kRows[] = {
      {"auto", R"(<tool_call>{"name": "f", "arguments": {"a": ")"},
      {"generic_xml", "<f><a>"},
      {"generic_xml", "<f><u>1</u>"},
      {"generic_xml", "\n{\"name\": \"f\", \"x\": {"},
      {"glm47", "<tool_call>f<tool_call>"},
      {"glm47", "<tool_call>f(a='x' "},
      {"lfm2", "<|tool_call_start|>[f(a='x' , b ' "},
      {"harmony", R"(<|channel|>commentary to=functions.f<|message|>{"a":")"},
      {"hermes", R"(<tool_call>{"name": "f", "arguments": {"a": {"b": )"},
      {"inkling", R"(<|message_model|>f<|content_invoke_tool_json|>{"name":"f","args":{"a":)"},
      {"kimi_k2", R"(<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a":")"},
      {"muse_glimmer",
       "<|start|>assistant to=f<|message|><atem:function_calls>"
       "<atem:invoke name=\"f\"><atem:parameter name=\"a\">"},
      {"muse_glimmer", "x<|start|>assistant to=f"},
      {"muse_glimmer", "<|message|><atem:function_calls></atem:function_calls>"},
      {"pythonic", "[f(a='x'), '"},
      {"qwen3_coder", "<tool_call><function=f><parameter=a>"},
      {"qwen3_coder", "<tool_call><function=f>\n<parameter=a>\n<parameter=b>\n<parameter=c>\n"},
      {"sarashina", "<|tool_calls|>[{'name': 'f', 'arguments': {'a': {'b': "},
      {"use_tool", "<use_tool><name>f</name><a>"},
  };
  const std::vector<ToolSpec> tools{{.name = "f"}};
  for (const Row& row : kRows) {
    for (const Commit commit : {Commit::eager, Commit::whole_call}) {
      std::string text;
      while (text.size() < 250'000) text += row.text;
      EventLog log;
      const std::clock_t begin = std::clock();
      const auto parser = find(row.dialect)->make({.tools = tools, .commit = commit});
      parser->push(text, Channel::text, log);
      parser->finish(log);
      EXPECT_FALSE(log.events().empty());
      EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 10) << row.dialect;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, Property, testing::ValuesIn(all().begin(), all().end()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace callgate::dialect::property_test
