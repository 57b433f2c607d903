// The stages of one choice, chained: events go in at first(), and what is left of them comes out at the other end.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "callgate/event.h"
#include "chat/event_grammar.h"

namespace callgate::engine {

class ChoiceChain {
 public:
  // `last` outlives the chain. In builds with assertions the event grammar is checked after every stage.
  ChoiceChain(std::vector<std::unique_ptr<Stage>> stages, EventSink& last);

  // The stages know where those after them are.
  ChoiceChain(const ChoiceChain&) = delete;
  ChoiceChain& operator=(const ChoiceChain&) = delete;

  EventSink& first() { return *first_; }
  // Where the stage at that position sends its events.
  EventSink& behind(std::size_t stage) { return sinks_[sinks_.size() - 1 - stage].next(); }

 private:
  // Binds a stage to the sink after it.
  class StageSink final : public EventSink {
   public:
    StageSink(Stage& stage, EventSink& next) : stage_(stage), next_(next) {}
    void accept(const Event& event) override { stage_.push(event, next_); }
    EventSink& next() const { return next_; }

   private:
    Stage& stage_;
    EventSink& next_;
  };

  void add_check();

  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<StageSink> sinks_;  // from the last to the first; never grows again
  std::vector<std::unique_ptr<CheckedSink>> checks_;  // in builds with assertions
  EventSink* first_;
};

}  // namespace callgate::engine
