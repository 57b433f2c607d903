// Calls that were read and have not left yet, with all of their arguments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"

namespace callgate::dialect {

class KeptCalls {
 public:
  bool empty() const { return calls_.empty(); }
  void clear() {
    calls_.clear();
    arguments_.clear();
  }

  void start(const CallStarted& event) {
    calls_.push_back({.name = std::string(event.name), .native_id = std::string(event.native_id)});
  }
  void add(const ArgumentsDelta& event) { arguments_.append(event.bytes); }
  void finish(const CallFinished& event) {
    Call& call = calls_.back();
    call.arguments_end = arguments_.size();
    call.outcome = event.outcome;
    call.finished = true;
  }

  // Lets them go, numbered from `next`; gives the number after them. The last one may still be open.
  CallIndex release(CallIndex next, EventSink& sink) {
    std::size_t from = 0;
    for (const Call& call : calls_) {
      sink.accept(CallStarted{next, call.name, call.native_id});
      const std::size_t to = call.finished ? call.arguments_end : arguments_.size();
      if (to > from) {
        sink.accept(ArgumentsDelta{next, std::string_view(arguments_).substr(from, to - from)});
      }
      from = to;
      if (call.finished) sink.accept(CallFinished{next++, call.outcome});
    }
    clear();
    return next;
  }

 private:
  struct Call {
    std::string name;
    std::string native_id;
    std::size_t arguments_end = 0;
    CallOutcome outcome = CallOutcome::complete;
    bool finished = false;
  };
  std::vector<Call> calls_;
  std::string arguments_;  // of all calls
};

}  // namespace callgate::dialect
