// The client's side of a tool loop: one turn in the client's protocol, whatever the number of rounds. With
// show_tool_calls a stream also has frames with an empty delta and the member
//   "callgate":{"type":"callgate.tool_call","round":0,"id":"call_1","name":"lookup_order","arguments":"{...}"}
// and a whole answer lists them. The last frames and the whole answer have
//   "callgate":{"loop":"loop_1","end_reason":"completed","rounds":1,"calls":1}
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "callgate/loop.h"
#include "callgate/pipeline.h"
#include "client/protocol.h"
#include "engine/choice_chain.h"
#include "engine/client_stages.h"
#include "engine/turn_keeper.h"
#include "engine/turn_tap.h"
#include "policy/passed_calls.h"

namespace callgate::server {

// A new answer to that request.
ResponseIdentity make_identity(IdMint& mint, const Request& request, ReasoningForm reasoning);

class LoopClient final : public loop::ClientSink {
 public:
  // Of the policies those apply that say how a client sees a turn. `keep`: bytes of the answer for kept(); 0: none.
  // REQUIRES: protocol outlives it.
  LoopClient(const Request& request, ResponseIdentity identity, const Protocol& protocol,
             const PolicyOptions& policy, std::size_t max_held_back, std::size_t keep,
             std::string loop_id);

  void accept(const Event& event) override { chain_->first().accept(event); }
  void notice(const loop::Notice& notice) override;

  // The turn is over: the rest of the answer.
  void finish(const AnswerEnd& end) { encoder_->finish(end); }
  void fail(const Error& error) { encoder_->fail(error); }

  // As of a pipeline.
  std::optional<std::uint32_t> held_reasoning() const;
  void release_reasoning();

  // Bytes for the client, to be taken away.
  std::string& out() { return out_; }
  bool has_out() const { return !out_.empty(); }
  // The client would have seen something.
  bool started() const { return tally_.visible || noted_; }
  const TurnSummary& summary() const { return summary_; }
  KeptTurn kept(const AnswerEnd& end) const;

 private:
  void note(std::string json);
  std::vector<std::unique_ptr<Stage>> make_stages(PolicyOptions policy, std::size_t max_held_back);

  const Protocol& protocol_;
  const ResponseIdentity identity_;
  const std::string loop_id_;
  Request shape_;         // what the encoder asks of a request, without its messages
  const bool own_calls_;  // the client declares tools
  std::string out_;
  std::unique_ptr<ResponseEncoder> encoder_;
  std::optional<engine::TurnKeeper> keeper_;
  TurnSummary summary_;
  engine::TurnTally tally_{.summary = summary_};
  policy::Withheld withheld_;
  engine::TurnTap tap_;
  engine::HeldWords held_;
  std::unique_ptr<engine::ChoiceChain> chain_;
  bool noted_ = false;
  std::string notes_;  // of a whole answer: elements of an array
};

}  // namespace callgate::server
