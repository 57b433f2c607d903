// The stages of one choice, chained: what the decoder says goes in, what is left goes to the tap.
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

  EventSink& first() { return *first_; }
  // Where the stage at that position sends its events.
  EventSink& behind(std::size_t stage) { return *behind_[stage]; }

 private:
  // Binds a stage to the sink after it.
  class StageSink final : public EventSink {
   public:
    StageSink(Stage& stage, EventSink& next) : stage_(stage), next_(next) {}
    void accept(const Event& event) override { stage_.push(event, next_); }

   private:
    Stage& stage_;
    EventSink& next_;
  };

  void add(std::unique_ptr<EventSink> sink);
  void add_check();

  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::unique_ptr<EventSink>> sinks_;  // from the last to the first
  std::vector<EventSink*> behind_;                 // by stage
  EventSink* first_;
};

}  // namespace callgate::engine
