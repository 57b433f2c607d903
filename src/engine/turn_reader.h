// TurnReader: the upstream's half of a turn. Bytes of a wire format become frames, frames events, and events pass the
// dialect and the policies that judge what the model does. What is left goes to an outlet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "callgate/pipeline.h"
#include "engine/choice_chain.h"
#include "engine/dialect_stage.h"
#include "engine/framing.h"
#include "engine/turn_outlet.h"
#include "policy/dedupe_calls.h"
#include "policy/stop_after_tools.h"
#include "upstream/wire_format.h"

namespace callgate::engine {

class TurnReader final : ChoiceSinks {
 public:
  // Uses what the options say of reading, and of the names in them none. REQUIRES: request, wire, what the options refer
  // to, and the outlet outlive the reader.
  TurnReader(const Request& request, const WireFormat& wire, const PipelineOptions& options,
             TurnOutlet& to);
  TurnReader(const TurnReader&) = delete;
  TurnReader& operator=(const TurnReader&) = delete;

  // As Pipeline's functions of these names.
  void push(std::string_view upstream_bytes);
  void finish();
  void fail(const Error& error);
  std::optional<std::uint32_t> grace() const;
  void cut();
  std::uint64_t progress() const { return said_ + framing_.progress(); }
  bool complete() const { return !finished_ && decoder_->complete(); }
  bool cut_short() const { return cut_short_; }
  bool finished() const { return finished_; }
  const std::optional<Error>& error() const { return error_; }
  // Bytes that wait in here for others.
  std::size_t held() const;

 private:
  using Stages = std::vector<std::unique_ptr<Stage>>;

  // Counts what the upstream says on its way into the stages.
  class Entrance final : public EventSink {
   public:
    Entrance(std::uint64_t& count, EventSink& next) : count_(count), next_(next) {}
    void accept(const Event& event) override;

   private:
    std::uint64_t& count_;
    EventSink& next_;
  };
  // Stages that are asked something while the turn runs; nullptr: the policy is off.
  struct Watched {
    const DialectStage* dialect = nullptr;
    policy::DedupeCalls* dedupe = nullptr;
    policy::StopAfterToolCalls* stop = nullptr;
    std::size_t stop_position = 0;
  };
  // One choice on its way from the decoder to the outlet.
  struct Line {
    Line(Stages stages, const Watched& watch, std::uint64_t& count, EventSink& next)
        : chain(std::move(stages), next), watched(watch), entrance(count, chain.first()) {}
    bool is_cut() const { return watched.stop != nullptr && watched.stop->is_cut(); }

    ChoiceChain chain;
    Watched watched;
    Entrance entrance;
  };

  Stages make_stages(const WireFormat& wire, const PipelineOptions& options, Watched& watched);
  void add_dialect(Stages& stages, const WireFormat& wire, const PipelineOptions& options,
                   Watched& watched);
  void add_undeclared_tools(Stages& stages);
  void add_invalid_arguments(Stages& stages, std::size_t max_held_back);
  std::uint32_t call_limit() const;
  EventSink& choice(std::uint32_t index) override { return lines_[index]->entrance; }
  std::uint32_t count() const override { return request_.choices; }

  void feed(const SseFrame& frame);
  void feed_body(std::string_view body);
  void settle();
  void end_turn();
  bool may_pass_over_errors() const;
  void end_if_cut();
  void conclude_with(const Error& failure);
  void sum_up();
  bool is_too_large() const;

  const Request& request_;
  const PolicyOptions policy_;
  const bool dialect_is_default_;
  const std::size_t max_body_;
  TurnOutlet& to_;
  TurnTally& tally_;
  Framing framing_;
  std::unique_ptr<ResponseDecoder> decoder_;
  std::uint32_t markup_ = 0;
  std::uint64_t said_ = 0;  // events of the upstream that are part of the answer
  bool finished_ = false;
  bool cut_short_ = false;
  std::optional<Error> error_;
  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace callgate::engine
