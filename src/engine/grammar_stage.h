// Checks what a model writes for custom tools with a grammar, after the fact: nothing is held back or changed. A function that stands
// for such a tool has one parameter, `input`; see ADR 35.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/regex.h"
#include "callgate/event.h"
#include "callgate/request.h"
#include "client/openai_responses/freeform_input.h"

namespace callgate::engine {

// What came of the checks, over all choices. Outlives the stages.
struct GrammarCounts {
  std::uint32_t& broken;     // inputs that do not match
  std::uint32_t& unchecked;  // that no one can say of
};

class GrammarStage final : public Stage {
 public:
  // Whether any tool of the request has a grammar.
  static bool is_needed(const Request& request);

  // An input of more than `max_input` bytes is not checked, nor are those that come after too much work.
  GrammarStage(const Request& request, std::size_t max_input, GrammarCounts counts);

  void push(const Event& event, EventSink& next) override;

 private:
  void finish(CallOutcome outcome);

  struct Grammar {
    std::optional<std::string> pattern;  // nothing: a grammar that callgate cannot check
    std::optional<Regex> regex;          // once it is needed
  };
  std::unordered_map<std::string, Grammar> grammars_;  // by function
  const std::size_t max_input_;
  const GrammarCounts counts_;
  std::size_t steps_ = Regex::kMaxSteps;  // that all checks together may still take
  Grammar* current_ = nullptr;            // of the open call
  client::FreeformInput freeform_;
  std::string input_;
};

}  // namespace callgate::engine
