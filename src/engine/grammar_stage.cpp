#include "engine/grammar_stage.h"

#include <algorithm>
#include <utility>

namespace callgate::engine {
namespace {

bool has_grammar(const ToolAlias& alias) { return alias.has_grammar; }

}  // namespace

bool GrammarStage::is_needed(const Request& request) {
  const auto& aliases = request.client.aliases;
  return std::any_of(aliases.begin(), aliases.end(), has_grammar);
}

GrammarStage::GrammarStage(const Request& request, std::size_t max_input, GrammarCounts counts)
    : max_input_(max_input), counts_(counts) {
  for (const ToolAlias& alias : request.client.aliases) {
    if (!has_grammar(alias)) continue;
    grammars_[alias.function].pattern = alias.pattern;
  }
}

void GrammarStage::push(const Event& event, EventSink& next) {
  if (const auto* started = std::get_if<CallStarted>(&event)) {
    const auto found = grammars_.find(std::string(started->name));
    current_ = found == grammars_.end() ? nullptr : &found->second;
    freeform_.reset();
    input_.clear();
  } else if (const auto* more = std::get_if<ArgumentsDelta>(&event)) {
    if (current_ != nullptr && input_.size() <= max_input_) freeform_.push(more->bytes, input_);
  } else if (const auto* finished = std::get_if<CallFinished>(&event)) {
    if (current_ != nullptr) finish(finished->outcome);
  }
  next.accept(event);
}

// A call that was cut is reported as such.
void GrammarStage::finish(CallOutcome outcome) {
  Grammar& grammar = *std::exchange(current_, nullptr);
  if (outcome == CallOutcome::truncated) return;
  freeform_.finish(input_);
  if (grammar.pattern && !grammar.regex) grammar.regex = Regex::compile(*grammar.pattern);
  if (!grammar.regex || input_.size() > max_input_) {
    ++counts_.unchecked;
    return;
  }
  switch (grammar.regex->matches(input_, steps_)) {
    case Regex::Verdict::matches:
      return;
    case Regex::Verdict::differs:
      ++counts_.broken;
      return;
    case Regex::Verdict::undecided:
      ++counts_.unchecked;
      return;
  }
}

}  // namespace callgate::engine
