// Answer: the client's half of a turn. Events of every choice become bytes of the client's protocol, and are counted and
// kept on their way. What comes in may be one turn of the model or many that somebody joined: to the client it is one answer.
//
//   TurnTally tally(seed);
//   Answer answer(request, protocol, options, AnswerOf::one_turn, tally);
//   answer.bind(out);
//   ...                                       // a TurnReader writes into answer.choice(i)
//   answer.end();                             // or finish() with the usage of many turns, or fail()
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/pipeline.h"
#include "client/protocol.h"
#include "engine/client_choices.h"
#include "engine/turn_keeper.h"
#include "engine/turn_outlet.h"

namespace callgate::engine {

class Answer final : public TurnOutlet {
 public:
  // Of the policies those apply that say how a client sees a turn. The observer hears of the answer's beginning.
  // REQUIRES: request, protocol and tally outlive the answer.
  Answer(const Request& request, const Protocol& protocol, const PipelineOptions& options,
         AnswerOf of, TurnTally& tally);

  // Where bytes go from now on. They are certain: a client may have them at once.
  void bind(std::string& out);

  TurnTally& tally() override { return tally_; }
  EventSink& choice(std::uint32_t index) override { return choices_.choice(index); }
  void begin_frame() override { encoder_->bind(*out_); }
  void end_frame() override;
  // The end of one turn, with an estimate of its own where the upstream did not state its usage.
  void end() override;
  void fail(const Error& error) override;
  // The end of an answer whose usage somebody else summed up. `estimate`: where some of it had to be estimated.
  void finish(const std::optional<Usage>& estimate);
  // News beside the answer, for a stream; see ResponseEncoder::note().
  void note(std::string_view name, std::string_view json);

  // As Pipeline's functions of these names.
  std::optional<std::uint32_t> held_reasoning() const { return choices_.held_reasoning(); }
  void release_reasoning();
  // Text that waits for the end of its sentence leaves.
  void release_text();
  bool started() const;
  KeptTurn kept() const;
  // Bytes that are kept for kept(). After forget() there are none, and no more are kept.
  std::size_t kept_bytes() const { return keeper_ ? keeper_->bytes() : 0; }
  void forget() {
    if (keeper_) keeper_->forget();
  }

 private:
  std::string whole_answer() const;

  const Request& request_;
  const Protocol& protocol_;
  TurnTally& tally_;
  const PolicyOptions policy_;
  const std::function<std::int64_t()> elapsed_ms_;
  const ResponseIdentity identity_;
  const std::uint64_t prompt_bytes_;
  std::unique_ptr<ResponseEncoder> encoder_;
  std::optional<TurnKeeper> keeper_;
  ClientChoices choices_;
  std::string* out_ = nullptr;
  bool noted_ = false;
  bool answered_ = false;
  std::optional<std::int64_t> first_token_ms_;
  std::optional<AnswerEnd::Timing> timing_;  // as the client was told
  std::optional<Usage> estimate_;            // whether the client was told or not
};

}  // namespace callgate::engine
