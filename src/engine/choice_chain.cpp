#include "engine/choice_chain.h"

#include <utility>

namespace callgate::engine {

ChoiceChain::ChoiceChain(std::vector<std::unique_ptr<Stage>> stages, EventSink& last)
    : stages_(std::move(stages)), behind_(stages_.size()), first_(&last) {
  sinks_.reserve(2 * stages_.size() + 1);
  add_check();
  for (std::size_t i = stages_.size(); i-- > 0;) {
    behind_[i] = first_;
    add(std::make_unique<StageSink>(*stages_[i], *first_));
    add_check();
  }
}

void ChoiceChain::add(std::unique_ptr<EventSink> sink) {
  first_ = sink.get();
  sinks_.push_back(std::move(sink));
}

void ChoiceChain::add_check() {
#ifndef NDEBUG
  add(std::make_unique<CheckedSink>(*first_));
#endif
}

}  // namespace callgate::engine
