// The policies that say how the client sees a turn: the form of reasoning and calls, the tail, sentences. The last stages of a
// choice; a tool loop has them once, after all its rounds.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "callgate/event.h"
#include "callgate/policy.h"
#include "policy/coalesce_reasoning.h"
#include "policy/passed_calls.h"
#include "policy/split_sentences.h"

namespace callgate::engine {

// Stages that hold words back until they are released; nullptr if the policy is off.
struct HeldWords {
  policy::CoalesceReasoning* coalesce = nullptr;
  std::size_t coalesce_position = 0;
  policy::SplitSentences* split = nullptr;
  std::size_t split_position = 0;
};

bool calls_become_text(CallOutput output);

// Appends them. Stages that are off are left out. REQUIRES: `withheld` outlives the stages.
HeldWords add_client_stages(std::vector<std::unique_ptr<Stage>>& stages, const PolicyOptions& rules,
                            bool stream, std::size_t max_held_back, policy::Withheld& withheld);

}  // namespace callgate::engine
