#include "script/reply/call_run.h"

#include <string_view>

namespace callgate::script {
namespace {

std::vector<std::string> faulty(const std::vector<std::string>& arguments, const Faults& faults) {
  std::vector<std::string> pieces = arguments;
  if (faults.has(Fault::empty_arguments)) pieces.clear();
  if (faults.has(Fault::bad_arguments) && !pieces.empty() && !pieces.back().empty()) {
    pieces.back().pop_back();
  }
  if (faults.has(Fault::trailing_arguments)) pieces.push_back("}");
  return pieces;
}

// One call as events that are due one after the other.
class CallEvents {
 public:
  CallEvents(const PlannedCall& planned, const Cut& cut, const Faults& faults)
      : planned_(planned), arguments_(faulty(planned.call.arguments, faults)) {
    for (const std::string& argument : arguments_) {
      for_each_piece(argument, cut, [&](std::string_view piece) { pieces_.push_back(piece); });
    }
  }

  // False: all are out.
  bool emit_next(FunctionRef<void(const Event&)> emit) {
    if (next_ > pieces_.size() + 1) return false;
    if (next_ == 0) {
      emit(CallStarted{planned_.index, planned_.call.name, planned_.call.id});
    } else if (next_ <= pieces_.size()) {
      emit(ArgumentsDelta{planned_.index, pieces_[next_ - 1]});
    } else {
      emit(CallFinished{planned_.index, CallOutcome::complete});
    }
    ++next_;
    return true;
  }

 private:
  const PlannedCall& planned_;
  std::vector<std::string> arguments_;
  std::vector<std::string_view> pieces_;  // into arguments_
  std::size_t next_ = 0;
};

}  // namespace

void emit_calls(const std::vector<PlannedCall>& calls, const Cut& cut, const Faults& faults,
                FunctionRef<void(const Event&)> emit) {
  std::vector<CallEvents> runs;
  runs.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool reverse = faults.has(Fault::reverse_index);
    runs.emplace_back(calls[reverse ? calls.size() - 1 - i : i], cut, faults);
  }
  if (!faults.has(Fault::interleave)) {
    for (CallEvents& run : runs) {
      while (run.emit_next(emit)) {
      }
    }
    return;
  }
  bool more = true;
  while (more) {
    more = false;
    for (CallEvents& run : runs) more = run.emit_next(emit) || more;
  }
}

}  // namespace callgate::script
