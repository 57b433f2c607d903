#include "dial/pool/breaker.h"

#include <algorithm>
#include <utility>

namespace callgate::server {
namespace {

constexpr std::int64_t kMostPauseDoublings = 20;
// An upstream that is slow works: it is in no hurry to be tried, and each trial costs a request its time.
constexpr std::int64_t kSlowPauses = 8;

bool counts_for_all(Trouble trouble) {
  return trouble == Trouble::silence || trouble == Trouble::slow;
}

}  // namespace

bool Breaker::succeeded(std::uint64_t now) {
  failures_ = 0;
  trials_ = 0;
  if (!is_open()) return false;
  state_ = State::closed;
  was_out_ = now - std::min(now, since_);
  since_ = now;
  due_ = 0;
  return true;
}

bool Breaker::failed(Trouble trouble, std::string reason, std::uint64_t now, std::uint64_t random) {
  if (options_.failures == 0) return false;
  ++failures_;
  // What failed beside the trial began before it, and says nothing new.
  if (state_ == State::open) return false;
  trouble_ = trouble;
  reason_ = std::move(reason);
  if (state_ == State::trying) {
    ++trials_;
    open(tried_at_, random);
    return false;
  }
  if (failures_ < options_.failures && !counts_for_all(trouble)) return false;
  trials_ = 0;
  since_ = now;
  open(now, random);
  return true;
}

void Breaker::begin_trial(std::uint64_t now) {
  state_ = State::trying;
  tried_at_ = now;
  if (trouble_ == Trouble::silence) {
    due_ = now + static_cast<std::uint64_t>(options_.longest.count());
  }
}

// Between three quarters of the pause and the whole of it. A trial's own time is part of the pause.
void Breaker::open(std::uint64_t from, std::uint64_t random) {
  state_ = State::open;
  Milliseconds longest = options_.longest;
  if (trouble_ == Trouble::slow) longest *= kSlowPauses;
  Milliseconds pause = options_.pause;
  for (std::int64_t i = 0; i < std::min(trials_, kMostPauseDoublings) && pause < longest; ++i) {
    pause *= 2;
  }
  const auto whole = static_cast<std::uint64_t>(std::min(pause, longest).count());
  due_ = from + whole - random % (whole / 4 + 1);
}

}  // namespace callgate::server
