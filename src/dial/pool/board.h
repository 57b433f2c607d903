// Board: what all event loops of a gateway remember of its upstreams, and the one place where a request learns which of them
// it may ask. Safe for threads: a request takes the lock about four times, never per event.
//
//   auto answer = board.next(walk, question, now);
//   if (auto* ask = std::get_if<PoolWalk::Ask>(&answer.step)) {
//     ... answer.ticket.heard(now) ... answer.ticket.succeeded(tokens, now);
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "config/config.h"
#include "dial/pool/lane.h"
#include "dial/pool/retry_budget.h"
#include "dial/pool/walk.h"

namespace callgate::server {

class Board;

// A request under way at an upstream. One that is neither ended well nor failed was left by its client.
class PoolTicket {
 public:
  PoolTicket() = default;
  PoolTicket(Board& board, std::shared_ptr<Lane> lane, Lane::Attempt attempt)
      : board_(&board), lane_(std::move(lane)), attempt_(attempt) {}
  PoolTicket(PoolTicket&& other) noexcept;
  PoolTicket& operator=(PoolTicket&& other) noexcept;
  ~PoolTicket() { abandon(); }

  explicit operator bool() const { return board_ != nullptr; }
  bool was_heard() const { return attempt_.heard; }
  // The upstream said something of its answer. Later calls cost nothing.
  void heard(std::uint64_t now);
  void succeeded(std::optional<std::int64_t> tokens, std::uint64_t now);
  void failed(const Error& error, std::uint64_t now);
  void abandon();

 private:
  friend class Board;
  Board* board_ = nullptr;
  std::shared_ptr<Lane> lane_;
  Lane::Attempt attempt_;
};

// A request that waits in line. Leaves it when it goes.
class PoolWait {
 public:
  PoolWait(Board& board, std::shared_ptr<Lane> lane, std::shared_ptr<Lane::Waiting> waiting)
      : board_(board), lane_(std::move(lane)), waiting_(std::move(waiting)) {}
  PoolWait(const PoolWait&) = delete;
  PoolWait& operator=(const PoolWait&) = delete;
  ~PoolWait();
  // The room that it was given; an empty ticket: it still waits.
  PoolTicket take();

 private:
  Board& board_;
  std::shared_ptr<Lane> lane_;
  std::shared_ptr<Lane::Waiting> waiting_;
};

// One upstream as operators see it.
struct UpstreamStatus {
  std::string name;
  std::string state;   // well, ejected, trying or limited
  std::string reason;  // why it is not well
  std::string trouble;
  std::uint64_t for_ms = 0;       // since it is ejected
  std::uint64_t next_try_ms = 0;  // from now on
  std::uint64_t limited_ms = 0;   // until it may be asked again
  std::int64_t failures_in_a_row = 0;
  std::int64_t in_flight = 0;
  std::int64_t queued = 0;
  std::uint64_t requests = 0;
  std::uint64_t failures = 0;
  std::optional<double> first_token_ms;
};

struct PoolNews {
  std::string upstream;
  Lane::News what = Lane::News::none;
  Trouble trouble = Trouble::failure;
  std::string reason;
  std::uint64_t out_ms = 0;  // how long it was left out
};

class Board {
 public:
  explicit Board(std::uint64_t seed) : mint_(seed) {}
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // Called on any thread, outside the lock. Before the first use.
  void set_listener(std::function<void(const PoolNews&)> listener) {
    listener_ = std::move(listener);
  }
  // The upstreams from now on. What was learned of those that stay is kept.
  void use(const std::vector<UpstreamConfig>& upstreams, std::int64_t retry_percent,
           std::uint64_t now);

  struct Question {
    std::string_view model;
    bool stream = false;
    bool may_copy = false;    // copies of the request may find out whether an upstream is well
    std::int64_t tokens = 0;  // an estimate
  };
  // A copy of the request should be sent there as well, to find out whether the upstream is well. Nobody waits for it.
  struct Copy {
    std::string upstream;
    PoolTicket ticket;
    Milliseconds patience{0};
    bool whole = false;  // it is well when the whole answer comes; else when it begins
  };
  struct Answer {
    PoolWalk::Step step;
    PoolTicket ticket;  // of an Ask
    std::optional<Copy> copy;
  };
  Answer next(PoolWalk& walk, const Question& question, std::uint64_t now);
  // `wake` is called on any thread, once, when take() has room. It may have some at once.
  std::unique_ptr<PoolWait> join_line(const std::string& upstream, const Question& question,
                                      std::function<void()> wake, std::uint64_t now);

  void checked(const std::string& upstream, bool well, std::string reason, std::uint64_t now);

  // In the order of their names.
  std::vector<UpstreamStatus> status(std::uint64_t now) const;

 private:
  friend class PoolTicket;
  friend class PoolWait;
  class Chance;
  struct Seen {
    std::shared_ptr<Lane> lane;
    std::uint64_t slow_after = 0;
  };

  std::shared_ptr<Lane> lane(const std::string& upstream, std::uint64_t now);
  // Fill seen_ and views_.
  void look(const PoolWalk& walk, std::uint64_t now);
  void view(const Question& question, std::uint64_t now);
  std::uint64_t slow_after(const PoolWalk& walk, std::size_t place) const;
  std::optional<Copy> copy_of(const Question& question, std::uint64_t now);
  UpstreamStatus describe(const std::string& name, Lane& lane, std::uint64_t now) const;
  void note(const Lane& lane, Lane::News news, std::uint64_t now);
  void admit(Lane& lane, std::uint64_t now);
  // Wakes and tells what came up under the lock, which is released here.
  void settle(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  IdMint mint_;
  RetryBudget budget_;
  std::map<std::string, std::shared_ptr<Lane>, std::less<>> lanes_;
  std::map<std::string, Rotation, std::less<>> rotations_;  // by model
  std::function<void(const PoolNews&)> listener_;
  std::vector<PoolNews> news_;
  std::vector<std::shared_ptr<Lane::Waiting>> admitted_;
  std::uint64_t now_ = 0;  // the latest that was heard of
  // The places of one walk, during next(): memory that is used again.
  std::vector<Seen> seen_;
  std::vector<PlaceView> views_;
};

}  // namespace callgate::server
