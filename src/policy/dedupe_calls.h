// A policy: a call with the name and, but for white space between them, the arguments of an earlier call of the turn is not sent again.
// A call is held back only when an earlier one has its name, and until its JSON value closes or the call is finished.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "callgate/event.h"
#include "json/scanner.h"
#include "policy/passed_calls.h"

namespace callgate::policy {

class DedupeCalls final : public Stage {
 public:
  // A call with more than `max_held_back` bytes of arguments passes without being compared. `withheld` outlives the
  // stage.
  DedupeCalls(std::size_t max_held_back, Withheld& withheld)
      : max_held_back_(max_held_back), withheld_(withheld) {}

  void push(const Event& event, EventSink& next) override;

  // A call is open and later stages do not know of it.
  bool is_holding_back() const { return state_ == State::held_back; }

 private:
  enum class State : std::uint8_t { none, passing, held_back, repeated, too_long };
  struct Call {
    std::string name;
    std::string id;
    bool in_text = false;
    std::string arguments;
    std::vector<std::pair<std::string, std::string>> fields;  // held back
  };

  void start(const CallStarted& event, EventSink& next);
  void field(const FieldReported& event, EventSink& next);
  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish(const CallFinished& event, EventSink& next);
  void pass(std::string_view bytes, EventSink& next);
  void hold_back(std::string_view bytes, EventSink& next);
  void decide(EventSink& next);
  static std::string key_of(const Call& call);

  std::size_t max_held_back_;
  Withheld& withheld_;
  State state_ = State::none;
  Call open_;
  json::Scanner scanner_;                  // of the open call
  std::unordered_set<std::string> names_;  // of the calls that passed
  std::unordered_set<std::string> seen_;   // those calls, as key_of() writes them
  PassedCalls passed_;
};

}  // namespace callgate::policy
