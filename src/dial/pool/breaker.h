// Breaker: whether an upstream is left out of pools, and when it is tried again. Decides only: nothing here waits, asks the
// time, or knows a socket. Times are milliseconds of any clock that only goes forward.
//
//   closed -- failures in a row, or one silence --> open -- its pause is over --> trying -- an answer --> closed
//                                                    ^------ a failure, the pause doubles ------'
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "dial/pool/remedy.h"

namespace callgate::server {

class Breaker {
 public:
  struct Options {
    std::int64_t failures = 3;  // 0: it never opens
    Milliseconds pause{1'000};
    Milliseconds longest{4'000};
  };
  enum class State : std::uint8_t { closed, open, trying };

  void set_options(const Options& options) { options_ = options; }

  // An answer. True: the upstream was left out and is not any more.
  bool succeeded(std::uint64_t now);
  // True: the upstream is left out from now on. `random` spreads the pauses of many gateways.
  bool failed(Trouble trouble, std::string reason, std::uint64_t now, std::uint64_t random);

  State state() const { return state_; }
  bool is_open() const { return state_ != State::closed; }
  // It is left out, its pause is over, and no request tries it yet. One that says nothing is tried beside a trial that waits for as
  // long as a pause may be: it may be well again, and only that trial is lost.
  bool is_due(std::uint64_t now) const {
    const bool may =
        state_ == State::open || (state_ == State::trying && trouble_ == Trouble::silence);
    return may && now >= due_;
  }
  // A request tries it. One of the next three calls reports the outcome. REQUIRES: is_due().
  void begin_trial(std::uint64_t now);
  // Nobody knows what became of the trial.
  void abandon_trial() {
    if (state_ == State::trying) state_ = State::open;
  }

  // Of the last failure.
  Trouble trouble() const { return trouble_; }
  const std::string& reason() const { return reason_; }
  std::int64_t failures() const { return failures_; }  // in a row
  std::uint64_t since() const { return since_; }       // when it was left out or came back
  std::uint64_t due() const { return due_; }           // when it may be tried; 0 while it is closed
  std::int64_t trials() const { return trials_; }      // that failed, since it was left out
  std::uint64_t was_out() const { return was_out_; }   // how long, when it last came back

 private:
  void open(std::uint64_t from, std::uint64_t random);

  Options options_;
  State state_ = State::closed;
  Trouble trouble_ = Trouble::failure;
  std::string reason_;
  std::int64_t failures_ = 0;
  std::int64_t trials_ = 0;
  std::uint64_t since_ = 0;
  std::uint64_t due_ = 0;
  std::uint64_t tried_at_ = 0;
  std::uint64_t was_out_ = 0;
};

}  // namespace callgate::server
