// The end of a loop's turn, held back until what it says is stored: a client that has seen it may count on the memory.
#pragma once

#include <optional>
#include <string>

#include "callgate/loop.h"

namespace callgate::server {

class HeldEnd final : public loop::ClientSink {
 public:
  // REQUIRES: the client outlives it.
  explicit HeldEnd(loop::ClientSink& client) : client_(client) {}

  void accept(const Event& event) override;
  void notice(const loop::Notice& notice) override;

  // Lets it go, as it was or as a failure. Nothing happens when there was none.
  void release() { tell(false); }
  void fail() { tell(true); }

 private:
  void tell(bool failed);

  loop::ClientSink& client_;
  std::optional<loop::LoopEnded> ended_;
  std::optional<Usage> usage_;
  std::string usage_json_;
  std::optional<FinishReason> reason_;
};

}  // namespace callgate::server
