#include "engine/client_stages.h"

#include <algorithm>
#include <utility>

#include "policy/calls_as_xml.h"
#include "policy/reasoning_form.h"
#include "policy/suppress_tail.h"

namespace callgate::engine {
namespace {

constexpr std::size_t kLongestSentence = std::size_t{64} << 10;

using Stages = std::vector<std::unique_ptr<Stage>>;

void add_reasoning_form(Stages& stages, const PolicyOptions& rules, bool stream,
                        policy::Withheld& withheld, HeldWords& held) {
  switch (rules.reasoning) {
    case ReasoningForm::reasoning_content:
    case ReasoningForm::reasoning: {  // the encoder's to name
      if (rules.reasoning_coalesce_bytes == 0 || !stream) return;
      auto stage = std::make_unique<policy::CoalesceReasoning>(rules.reasoning_coalesce_bytes);
      held.coalesce = stage.get();
      held.coalesce_position = stages.size();
      stages.push_back(std::move(stage));
      return;
    }
    case ReasoningForm::think_tags:
      stages.push_back(std::make_unique<policy::ReasoningInText>());
      return;
    case ReasoningForm::hide:
      stages.push_back(std::make_unique<policy::HideReasoning>(withheld));
      return;
  }
}

}  // namespace

bool calls_become_text(CallOutput output) {
  return output == CallOutput::xml || output == CallOutput::xml_only;
}

HeldWords add_client_stages(Stages& stages, const PolicyOptions& rules, bool stream,
                            std::size_t max_held_back, policy::Withheld& withheld) {
  HeldWords held;
  // Reasoning becomes text, goes, or leaves in larger pieces, after the cut: a cut closes </think>.
  add_reasoning_form(stages, rules, stream, withheld, held);
  // Text after the last call goes, when the calls that pass and all that is text of the model are known.
  if (rules.suppress_tail_after_tools || rules.output == CallOutput::json) {
    stages.push_back(std::make_unique<policy::SuppressTail>(max_held_back, withheld));
  }
  // After the tail was withheld: calls that are written into the text are not part of it.
  if (calls_become_text(rules.output)) {
    stages.push_back(std::make_unique<policy::CallsAsXml>(rules.output == CallOutput::xml_only,
                                                          max_held_back, rules.call_delimiter));
  }
  // Text leaves in sentences. Last, when all that is text is known; a whole answer has no pieces.
  if (rules.split == TextSplit::sentences && stream) {
    const policy::SentenceOptions sentences{.min_characters = rules.split_min_characters,
                                            .max_bytes = std::min(kLongestSentence, max_held_back)};
    auto stage = std::make_unique<policy::SplitSentences>(sentences);
    held.split = stage.get();
    held.split_position = stages.size();
    stages.push_back(std::move(stage));
  }
  return held;
}

}  // namespace callgate::engine
