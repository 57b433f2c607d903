#include "engine/client_choices.h"

#include "policy/call_whitespace.h"

namespace callgate::engine {

ClientChoices::ClientChoices(const Request& request, const PipelineOptions& options, AnswerOf of,
                             TurnTally& tally, FunctionRef<Ends(std::uint32_t)> ends) {
  for (std::uint32_t i = 0; i < request.choices; ++i) {
    lines_.push_back(
        std::make_unique<Line>(i, tally, ends(i), make_stages(request.stream, options, of, tally)));
  }
}

ClientChoices::Stages ClientChoices::make_stages(bool stream, const PipelineOptions& options,
                                                 AnswerOf of, TurnTally& tally) {
  Stages stages;
  PolicyOptions rules = options.policy;
  if (of != AnswerOf::one_turn) {
    // The tail is known to the turns alone, which see every call.
    rules.suppress_tail_after_tools = false;
    if (rules.output == CallOutput::json) rules.output = CallOutput::tool_calls;
  }
  // The turns keep white space after text. Before a call of the client's own it goes, as in any turn.
  if (of == AnswerOf::many_turns_with_calls && rules.call_whitespace &&
      !calls_become_text(rules.output)) {
    stages.all.push_back(std::make_unique<policy::CallWhitespace>(options.max_held_back));
  }
  stages.held = add_client_stages(stages.all, rules, stream, options.max_held_back, tally.withheld);
  // The library user's own policies, in the order given.
  for (const auto& make : options.policies) stages.all.push_back(make());
  return stages;
}

std::optional<std::uint32_t> ClientChoices::held_reasoning() const {
  std::optional<std::uint32_t> pieces;
  for (const auto& line : lines_) {
    if (line->held.coalesce == nullptr) continue;
    if (const auto held = line->held.coalesce->held_back()) pieces = pieces.value_or(0) + *held;
  }
  return pieces;
}

void ClientChoices::release_reasoning() {
  for (const auto& line : lines_) {
    if (line->held.coalesce == nullptr) continue;
    line->held.coalesce->release(line->chain.behind(line->held.coalesce_position));
  }
}

void ClientChoices::release_text() {
  for (const auto& line : lines_) {
    if (line->held.split == nullptr) continue;
    line->held.split->release(line->chain.behind(line->held.split_position));
  }
}

}  // namespace callgate::engine
