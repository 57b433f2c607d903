#include "engine/choice_chain.h"

#include <utility>

namespace callgate::engine {
namespace {

class Pass final : public EventSink {
 public:
  explicit Pass(EventSink& next) : next_(next) {}
  void accept(const Event& event) override { next_.accept(event); }

 private:
  EventSink& next_;
};

}  // namespace

ChoiceChain::ChoiceChain(std::vector<std::unique_ptr<Stage>> stages, EventSink& last)
    : stages_(std::move(stages)), behind_(stages_.size()) {
  add_check(last);
  for (std::size_t i = stages_.size(); i-- > 0;) {
    behind_[i] = &first();
    add(std::make_unique<StageSink>(*stages_[i], first()));
    add_check(first());
  }
}

void ChoiceChain::add_check(EventSink& next) {
#ifndef NDEBUG
  add(std::make_unique<CheckedSink>(next));
#else
  if (sinks_.empty()) add(std::make_unique<Pass>(next));
#endif
}

}  // namespace callgate::engine
