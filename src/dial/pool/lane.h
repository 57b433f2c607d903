// Lane: what a gateway remembers of one upstream: how well it is, how fast, what it may get, and what is under way there.
// Decides only: nothing here waits, asks the time, or knows a socket. Not safe for threads, see board.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "dial/pool/breaker.h"
#include "dial/pool/first_tokens.h"
#include "dial/pool/minute_limit.h"
#include "dial/pool/remedy.h"

namespace callgate::server {

class Lane {
 public:
  enum class News : std::uint8_t { none, ejected, restored };

  // What was learned is kept while it is the same server.
  void use(const UpstreamConfig& config, std::uint64_t now);

  // A request that is under way.
  struct Attempt {
    std::uint64_t id = 0;
    std::uint64_t began = 0;
    std::uint64_t slow_after = 0;  // milliseconds; 0: nothing is known to compare it with
    std::int64_t tokens = 0;       // estimated
    bool stream = false;
    bool trial = false;
    bool heard = false;
  };
  // `trial`: it finds out whether the upstream is well again.
  Attempt begin(bool stream, bool trial, std::int64_t tokens, std::uint64_t slow_after,
                std::uint64_t now);
  // The first that the upstream says of its answer.
  News heard(Attempt& attempt, std::uint64_t now, std::uint64_t random);
  // The answer ended well. `tokens`: what it used, where that is known.
  News succeeded(Attempt& attempt, std::optional<std::int64_t> tokens, std::uint64_t now);
  News failed(Attempt& attempt, const Error& error, std::uint64_t now, std::uint64_t random);
  // Nobody wants the answer any more.
  void abandoned(Attempt& attempt, std::uint64_t now);
  // A check of its own, beside all requests.
  News checked(bool well, std::string reason, std::uint64_t now, std::uint64_t random);

  // Requests that it seems to have forgotten. `slow_after` as for begin().
  News look_at_waits(std::uint64_t slow_after, std::uint64_t now, std::uint64_t random);
  // It is slow beside a peer. True once all of its last answers were.
  bool is_slower_than(std::uint64_t slow_after) const;
  News eject_slow(std::uint64_t slow_after, std::uint64_t now, std::uint64_t random);

  const Breaker& breaker() const { return breaker_; }
  Breaker& breaker() { return breaker_; }
  const FirstTokens& first_tokens() const { return first_tokens_; }
  const UpstreamConfig& config() const { return config_; }
  // How long a copy of a request waits for the upstream that did not answer.
  Milliseconds trial_patience() const;
  // It is left out, and another request or copy may find out whether it is well.
  bool may_be_tried(std::uint64_t now) const {
    return breaker_.is_due(now) && trials_ < kMostTrials;
  }
  // A real request finds out whether the upstream is well; otherwise a copy of one does, and nothing waits for it.
  bool tries_in_earnest() const;

  std::uint64_t free_at(std::int64_t tokens, std::uint64_t now);
  // What does not allow a request now.
  std::string limit_reason(std::uint64_t now) const;
  bool is_full() const { return config_.max_in_flight > 0 && in_flight_ >= config_.max_in_flight; }
  bool is_queue_full() const { return static_cast<std::int64_t>(line_.size()) >= config_.queue; }
  std::int64_t in_flight() const { return in_flight_; }
  std::size_t queued() const { return line_.size(); }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t failures() const { return failures_; }

  // A request that waits for room.
  struct Waiting {
    bool stream = false;
    std::int64_t tokens = 0;
    std::function<void()> wake;     // called by the request that makes room
    std::optional<Attempt> room{};  // once it was let in
  };
  void join_line(std::shared_ptr<Waiting> waiting) { line_.push_back(std::move(waiting)); }
  void leave_line(const Waiting& waiting);
  // Admits the first in line if there is room; nullptr if not.
  std::shared_ptr<Waiting> admit_next(std::uint64_t now);

 private:
  void end(Attempt& attempt);
  void limit(const Error& error, std::uint64_t now);

  UpstreamConfig config_;
  Breaker breaker_;
  FirstTokens first_tokens_;
  MinuteLimit requests_limit_;
  MinuteLimit tokens_limit_;
  std::uint64_t not_before_ = 0;
  std::string asked_for_pause_;  // what it said
  // Trials at a time, of an upstream that is silent.
  static constexpr int kMostTrials = 4;

  std::int64_t in_flight_ = 0;
  int trials_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, std::uint64_t>
      waits_;  // streams that nothing was heard of, and when they began
  std::uint64_t last_heard_ = 0;
  std::deque<std::shared_ptr<Waiting>> line_;
};

}  // namespace callgate::server
