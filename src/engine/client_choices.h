// The client's side of every choice: the stages that say how a client sees a turn, the library user's own, and the tap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "callgate/pipeline.h"
#include "engine/choice_chain.h"
#include "engine/client_stages.h"
#include "engine/turn_tap.h"

namespace callgate::engine {

// What an answer is made of.
enum class AnswerOf : std::uint8_t {
  one_turn,               // of the model
  many_turns,             // that somebody joined, and that make no calls of the client's own
  many_turns_with_calls,  // those that may
};

class ClientChoices {
 public:
  struct Ends {
    EventSink& next;            // outlives the choices
    EventSink* copy = nullptr;  // sees the same; nullptr: nobody does
  };
  // `ends` says where the events of a choice go. REQUIRES: `tally` outlives the choices.
  ClientChoices(const Request& request, const PipelineOptions& options, AnswerOf of,
                TurnTally& tally, FunctionRef<Ends(std::uint32_t choice)> ends);

  EventSink& choice(std::uint32_t index) { return lines_[index]->chain.first(); }

  // As Pipeline's functions of these names.
  std::optional<std::uint32_t> held_reasoning() const;
  void release_reasoning();
  // Text that waits for the end of its sentence leaves.
  void release_text();

 private:
  struct Stages {
    std::vector<std::unique_ptr<Stage>> all;
    HeldWords held;
  };
  struct Line {
    Line(std::uint32_t index, TurnTally& tally, const Ends& ends, Stages stages)
        : tap(index, tally, ends.next, ends.copy),
          chain(std::move(stages.all), tap),
          held(stages.held) {}
    TurnTap tap;
    ChoiceChain chain;
    HeldWords held;
  };
  static Stages make_stages(bool stream, const PipelineOptions& options, AnswerOf of,
                            TurnTally& tally);

  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace callgate::engine
