#include "engine/choice_chain.h"

#include <utility>

namespace callgate::engine {

ChoiceChain::ChoiceChain(std::vector<std::unique_ptr<Stage>> stages, EventSink& last)
    : stages_(std::move(stages)), first_(&last) {
  sinks_.reserve(stages_.size());
  add_check();
  for (std::size_t i = stages_.size(); i-- > 0;) {
    first_ = &sinks_.emplace_back(*stages_[i], *first_);
    add_check();
  }
}

void ChoiceChain::add_check() {
#ifndef NDEBUG
  first_ = checks_.emplace_back(std::make_unique<CheckedSink>(*first_)).get();
#endif
}

}  // namespace callgate::engine
