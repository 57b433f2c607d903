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

  // An input of more than `max_input` bytes is not checked.
  GrammarStage(const Request& request, std::size_t max_input, GrammarCounts counts);

  void push(const Event& event, EventSink& next) override;

 private:
  void finish(CallOutcome outcome);

  struct Grammar {
    std::optional<Regex> regex;  // nothing: a grammar that callgate cannot check
  };
  std::unordered_map<std::string, Grammar> grammars_;  // by function
  const std::size_t max_input_;
  const GrammarCounts counts_;
  const Grammar* current_ = nullptr;  // of the open call
  client::FreeformInput freeform_;
  std::string input_;
};

}  // namespace callgate::engine
