// What one tool loop remembers: its conversation is loaded before the first turn, held while the loop runs, and stored step
// by step. No step has a call without its result, and each is whole in the store or not there at all.
//
//   LoopMemory memory(...);
//   auto state = co_await memory.open(request, options);   // the request has all that was said now
//   memory.take(call);                                     // a CallModel: what is new of it, and the rest of its request
//   co_await memory.save();                                // before the model is called
//   memory.finish(last);  co_await memory.save();          // before the client is told of the end
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "callgate/loop.h"
#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "session/conversation_claims.h"
#include "turn/loop_memories.h"

namespace callgate::server {

class LoopMemory {
 public:
  // REQUIRES: the memories, the claims and the event loop outlive it; `mode` is not `none`.
  LoopMemory(LoopMemories& all, ConversationClaims& claims, net::Loop& loop, store::MemoryName name,
             loop::Memory mode, std::uint64_t seed);

  // Puts what is remembered before the request's messages, which are what is new. Gives the state of the answer that the
  // request goes on with, if its results came. A conflict when another request of the conversation runs.
  net::Task<Result<std::optional<loop::State>>> open(Request& request, loop::Options& options);

  // The model's next turn: takes what is to be remembered before it, and completes its request.
  void take(loop::CallModel& call);
  void finish(const loop::Finish& last);
  void give_back(const loop::ReturnToClient& back);
  // Something was taken that is not stored.
  bool unsaved() const { return changed_; }
  // Stores it in one step. After a failure nothing is stored any more: a later step would leave a gap.
  net::Task<Result<void>> save();
  // Lets the next request of the conversation in.
  void release() { claim_.release(); }

 private:
  Result<void> read(const store::Memory& memory);
  Result<void> read_pending(std::string_view json);
  void take_prompt(std::vector<Message>& said);
  Result<void> check_results(const std::vector<Message>& said) const;
  Result<std::optional<loop::State>> join(Request& request, loop::Options& options);
  bool answers_pending(const std::vector<Message>& said) const;
  bool is_pending(std::string_view call) const;
  void remember(const Message& message);
  Result<void> check_room(std::int64_t messages, std::int64_t bytes) const;

  LoopMemories& all_;
  net::Loop& loop_;
  const store::MemoryName name_;
  const loop::Memory mode_;
  IdMint mint_;
  ConversationClaim claim_;

  // As it is stored.
  std::string step_;
  std::int64_t messages_ = 0;
  std::int64_t message_bytes_ = 0;

  std::vector<Message> prompt_;   // system messages
  std::vector<Message> known_;    // what was said, with what is not stored yet
  std::vector<std::string> new_;  // what of it is not stored
  std::vector<Message> asked_;    // Memory::outside: what is stored with the answer only
  std::string pending_;
  std::optional<loop::State> state_;  // of the answer before
  bool changed_ = false;
  std::optional<Error> failed_;
};

}  // namespace callgate::server
