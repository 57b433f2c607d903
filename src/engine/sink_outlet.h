// Hands the events of choice 0 to a sink, as a client would see them. Nothing is encoded.
#pragma once

#include <cstdint>

#include "callgate/pipeline.h"
#include "client/protocol.h"
#include "engine/client_choices.h"
#include "engine/turn_outlet.h"

namespace callgate::engine {

class SinkOutlet : public TurnOutlet {
 public:
  // REQUIRES: options.sink is set; what it refers to and the tally outlive the outlet.
  SinkOutlet(const Request& request, const Protocol& protocol, const PipelineOptions& options,
             TurnTally& tally)
      : tally_(tally),
        choices_(begin(request, protocol, options), options, AnswerOf::one_turn, tally,
                 [&](std::uint32_t choice) {
                   EventSink& next = choice == 0 ? *options.sink : nowhere_;
                   return ClientChoices::Ends{.next = next};
                 }) {}

  TurnTally& tally() override { return tally_; }
  EventSink& choice(std::uint32_t index) override { return choices_.choice(index); }

 private:
  class Nowhere final : public EventSink {
    void accept(const Event&) override {}
  };

  // The turn has an id, as an answer would have.
  const Request& begin(const Request& request, const Protocol& protocol,
                       const PipelineOptions& options) {
    const std::string id = options.response_id.empty() ? tally_.mint.mint(protocol.id_prefix, 29)
                                                       : options.response_id;
    if (tally_.observer != nullptr) tally_.observer->turn_started(id);
    return request;
  }

  TurnTally& tally_;
  Nowhere nowhere_;
  ClientChoices choices_;
};

}  // namespace callgate::engine
