// What stands between a script and the client's encoder: a server's own seals of what it thought, and bytes that are not
// characters.
#pragma once

#include <string>

#include "callgate/event.h"
#include "script/reply/wire_faults.h"

namespace callgate::script {

class TurnSink final : public EventSink {
 public:
  TurnSink(const WireFaults& wire, EventSink& next) : wire_(wire), next_(next) {}

  void accept(const Event& event) override;
  // Some text had bytes that the encoder was not to see.
  bool has_hidden() const { return hidden_; }

 private:
  void pass(const Event& event);
  void seal(SealPoint point, std::string_view text);
  void seal_before(const Event& event);

  const WireFaults& wire_;
  EventSink& next_;
  std::string thought_;      // of the thought that goes on
  std::string all_thought_;  // of the turn
  std::string call_;         // name and arguments of the first call
  bool called_ = false;
  bool refused_ = false;
  bool hidden_ = false;
};

// Encoders mend what is not UTF-8, a script may cut inside a character: such bytes pass them as private characters.
void append_hidden_bytes(std::string& out, std::string_view text);
void restore_hidden_bytes(std::string& text);

}  // namespace callgate::script
