// Random policies and random turns: whatever meets, the client gets an answer that obeys the contract.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "callgate/pipeline.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "contract/chat_contract.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::policy_property_test {
namespace {

using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint32_t limit) { return random() % limit; }
template <class List>
const auto& any_of(Random& random, const List& list) {
  return list[below(random, static_cast<std::uint32_t>(std::size(list)))];
}

PolicyOptions random_policy(Random& random) {
  return {.stop_after_tools = static_cast<StopAfterTools>(below(random, 3)),
          .suppress_tail_after_tools = below(random, 2) == 0,
          .tool_call_max = below(random, 4),
          .call_whitespace = below(random, 2) == 0,
          .dedupe_calls = below(random, 2) == 0,
          .undeclared_tools = static_cast<UndeclaredTools>(below(random, 3)),
          .invalid_arguments = static_cast<InvalidArguments>(below(random, 3)),
          .reasoning = static_cast<ReasoningForm>(below(random, 4)),
          .reasoning_coalesce_bytes = 4 * below(random, 3),
          .call_id_style = static_cast<CallIdStyle>(below(random, 2)),
          .output = static_cast<CallOutput>(below(random, 4)),
          .error_after_tools = static_cast<ErrorAfterTools>(below(random, 2)),
          .estimate_usage = below(random, 2) == 0,
          .trailing_counters = below(random, 2) == 0,
          .split = static_cast<TextSplit>(below(random, 2)),
          .split_min_characters = 6 * below(random, 3)};
}

std::string delta(std::uint32_t choice, std::string_view name, std::string_view text) {
  std::string frame = "data: {\"choices\":[{\"index\":" + std::to_string(choice) +
                      ",\"delta\":{\"" + std::string(name) + "\":";
  json::append_string(frame, text);
  return frame + "}}]}\n\n";
}

std::string call_delta(std::uint32_t choice, std::uint32_t index, std::string_view name,
                       std::string_view arguments) {
  std::string frame = "data: {\"choices\":[{\"index\":" + std::to_string(choice) +
                      ",\"delta\":{\"tool_calls\":[{\"index\":" + std::to_string(index);
  if (!name.empty()) frame += ",\"id\":\"c" + std::to_string(index) + "\"";
  frame += ",\"function\":{";
  if (!name.empty()) frame += "\"name\":\"" + std::string(name) + "\",";
  frame += "\"arguments\":";
  json::append_string(frame, arguments);
  return frame + "}}]}}]}\n\n";
}

// One step of a choice's turn.
std::string random_step(Random& random, std::uint32_t choice, std::uint32_t& calls) {
  static constexpr std::string_view kTexts[] = {"word", " ",     "\n\n",   "é\n",  " two words ",
                                                "{",    "Yes. ", "No! So", "```\n"};
  static constexpr std::string_view kNames[] = {"f", "g", "rm"};
  static constexpr std::string_view kArguments[] = {
      "{}", R"({"a":1})", R"({"a":"b\u00e9"})", R"({"a":")", "", "{x", R"({"a":1} tail)", "12"};
  switch (below(random, 6)) {
    case 0:
    case 1:
      return delta(choice, "content", any_of(random, kTexts));
    case 2:
      return delta(choice, "reasoning_content", any_of(random, kTexts));
    case 3:
      return below(random, 4) == 0 ? delta(choice, "refusal", "no")
                                   : "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n";
    default:
      break;
  }
  const std::string_view arguments = any_of(random, kArguments);
  const std::size_t cut = below(random, static_cast<std::uint32_t>(arguments.size() + 1));
  const std::uint32_t index = calls++;
  return call_delta(choice, index, any_of(random, kNames), arguments.substr(0, cut)) +
         call_delta(choice, index, "", arguments.substr(cut));
}

std::vector<std::string> random_turn(Random& random, std::uint32_t choices) {
  std::vector<std::string> frames;
  std::vector<std::uint32_t> calls(choices);
  for (std::uint32_t steps = below(random, 12); steps > 0; --steps) {
    const std::uint32_t choice = below(random, choices);
    frames.push_back(random_step(random, choice, calls[choice]));
  }
  static constexpr std::string_view kReasons[] = {"stop", "tool_calls", "length", "content_filter"};
  for (std::uint32_t i = 0; i < choices; ++i) {
    frames.push_back("data: {\"choices\":[{\"index\":" + std::to_string(i) +
                     ",\"delta\":{},\"finish_reason\":\"" + std::string(any_of(random, kReasons)) +
                     "\"}]}\n\n");
  }
  frames.push_back("data: [DONE]\n\n");
  return frames;
}

// What the client would see of one choice, held to the grammar.
class Observer final : public Stage {
 public:
  struct Seen {
    EventGrammar grammar;
    EventLog log;
    std::uint32_t finishes = 0;
  };
  explicit Observer(Seen& seen) : seen_(seen) {}
  void push(const Event& event, EventSink& next) override {
    EXPECT_EQ(seen_.grammar.check(event), "");
    if (std::holds_alternative<TurnFinished>(event)) ++seen_.finishes;
    // Usage has no place in the order of the words.
    if (!std::holds_alternative<UsageReported>(event)) seen_.log.accept(event);
    next.accept(event);
  }

 private:
  Seen& seen_;
};

// Policies that no event of the turn may break.
void expect_kept(const PolicyOptions& policy, const Request& request, const Observer::Seen& seen) {
  const std::vector<LoggedCall> calls = seen.log.calls();
  const std::uint32_t limit = request.parallel_tool_calls ? 1 : policy.tool_call_max;
  EXPECT_TRUE(limit == 0 || calls.size() <= limit);
  if (policy.stop_after_tools == StopAfterTools::first) {
    const auto finished = std::count_if(calls.begin(), calls.end(), [](const LoggedCall& call) {
      return call.outcome != CallOutcome::truncated;
    });
    EXPECT_LE(finished, 1);
  }
  if (policy.undeclared_tools != UndeclaredTools::pass) {
    for (const LoggedCall& call : calls) EXPECT_NE(call.name, "rm");
  }
  if (policy.reasoning == ReasoningForm::hide || policy.reasoning == ReasoningForm::think_tags) {
    EXPECT_EQ(seen.log.reasoning(), "");
  }
  const auto& events = seen.log.events();
  const bool tail = !calls.empty() && events.size() > 1 &&
                    events[events.size() - 2].kind == LoggedEvent::Kind::text;
  const bool blocks = policy.output == CallOutput::xml || policy.output == CallOutput::xml_only;
  const bool no_tail = policy.suppress_tail_after_tools || policy.output == CallOutput::json;
  EXPECT_FALSE(no_tail && tail && !blocks);  // the block of a call follows it
  EXPECT_FALSE(policy.output == CallOutput::xml_only && !calls.empty());
  EXPECT_FALSE(*seen.log.reason() == FinishReason::tool_calls && calls.empty());
}

// Sentences put together are the text, and stand where it stood.
void expect_same_words(const std::vector<Observer::Seen>& seen,
                       const std::vector<Observer::Seen>& unsplit) {
  ASSERT_EQ(seen.size(), unsplit.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(print(seen[i].log.events()), print(unsplit[i].log.events()));
  }
}

bool is_json_object(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

// The client's bytes keep every rule of the contract. Two rules are about what the model wrote, and policies may let that
// pass: they are broken when a call shows it, and only then.
void expect_contract(std::string_view bytes, const Request& request, const TurnSummary& summary,
                     const std::vector<Observer::Seen>& seen) {
  static constexpr std::string_view kMarkers[] = {"<tool_call>", "<|tool_call"};
  contract::ChatContract contract({.tools = request.tools,
                                   .choices = request.choices,
                                   .include_usage = request.include_usage,
                                   .usage_known = summary.usage || summary.usage_estimated,
                                   .markers = kMarkers});
  contract.push(bytes);
  contract.finish();
  bool undeclared = false;
  bool malformed = false;
  for (const Observer::Seen& choice : seen) {
    for (const LoggedCall& call : choice.log.calls()) {
      if (call.name == "rm") undeclared = true;
      if (!is_json_object(call.arguments)) malformed = true;
    }
  }
  for (const contract::RuleVerdict& verdict : contract.verdicts()) {
    const bool expected = (verdict.rule == "tool_is_declared" && undeclared) ||
                          (verdict.rule == "arguments_are_json" && malformed);
    EXPECT_EQ(verdict.verdict == contract::Verdict::fail, expected)
        << verdict.rule << ": " << verdict.seen << "\n"
        << bytes;
  }
}

TEST(PolicyProperty, random_policies_give_turns_that_obey_the_grammar_and_the_contract) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Request request{.model = "m", .tools = {{.name = "f"}, {.name = "g"}}};
    request.stream = below(random, 2) == 0;
    request.include_usage = below(random, 2) == 0;
    request.choices = 1 + below(random, 2);
    if (below(random, 4) == 0) request.parallel_tool_calls = false;
    std::vector<Observer::Seen> seen;
    seen.reserve(request.choices);  // choices begin in any order
    PipelineOptions options{.policy = random_policy(random)};
    options.policies.push_back([&] { return std::make_unique<Observer>(seen.emplace_back()); });
    if (below(random, 4) == 0) options.max_held_back = 3;
    const PolicyOptions policy = options.policy;
    Result<Pipeline> pipeline = Pipeline::make(request, options);
    options.policy.split = TextSplit::none;
    std::vector<Observer::Seen> unsplit;
    unsplit.reserve(request.choices);
    options.policies = {[&] { return std::make_unique<Observer>(unsplit.emplace_back()); }};
    Result<Pipeline> plain = Pipeline::make(request, std::move(options));
    std::string out;
    std::string plain_out;
    for (const std::string& frame : random_turn(random, request.choices)) {
      pipeline->push(frame, out);
      plain->push(frame, plain_out);
      if (below(random, 3) != 0) continue;
      pipeline->cut(out);
      plain->cut(plain_out);
    }
    pipeline->finish(out);
    plain->finish(plain_out);
    ASSERT_TRUE(pipeline->finished());
    expect_same_words(seen, unsplit);
    EXPECT_FALSE(seen.empty());
    for (Observer::Seen& choice : seen) {
      EXPECT_EQ(choice.grammar.check_end(), "");
      EXPECT_EQ(choice.finishes, 1u);
      expect_kept(policy, request, choice);
    }
    if (request.stream) expect_contract(out, request, pipeline->summary(), seen);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace callgate::policy_property_test
