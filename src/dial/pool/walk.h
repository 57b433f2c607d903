// PoolWalk: which upstream of its pool a request asks next, and when. Decides only: nothing here waits or asks the time.
//
//   1. Upstreams that are well, by priority; among those of one priority the balance decides.
//   2. Those that are well and have no room: the request waits in line.
//   3. Those that are left out of the pool: better than nothing.
//   4. What is left are the model's `retries`: upstreams whose failure may pass are asked again, after a growing pause.
//
// Nobody is asked before the time that it named, and each is asked once before one is asked twice. A failure that is the
// request's own ends the walk at once: no upstream would take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "callgate/error.h"
#include "config/config.h"
#include "dial/pool/balance.h"
#include "dial/pool/remedy.h"

namespace callgate::server {

// What is known of an upstream at the moment.
struct PlaceView {
  bool out = false;  // it is left out of the pool
  bool due = false;  // ...and this request may try it
  Trouble trouble = Trouble::failure;
  std::uint64_t free_at = 0;  // when its limits and its own words allow a request; 0: now
  std::string limit = {};     // which of them, where one does not
  bool full = false;          // as many requests as it may have are in flight
  bool queue_full = false;    // and as many as may wait wait
  std::int64_t in_flight = 0;
  std::optional<double> first_token;
};

// What a walk asks of the world.
class PoolChance {
 public:
  virtual ~PoolChance() = default;
  virtual Rotation& rotation() = 0;
  virtual std::uint64_t random() = 0;
  // Whether the shared budget allows another repetition. Counts it as used.
  virtual bool take_repeat() = 0;
};

class PoolWalk {
 public:
  struct Options {
    std::int64_t retries = 2;
    Milliseconds backoff{250};
    Balance balance = Balance::round_robin;
    std::uint64_t affinity = 0;  // see choose()
    std::uint64_t deadline = 0;  // of the clock; 0: none
    bool skip_first = false;     // the first upstream in order goes last: it has just failed
  };
  // REQUIRES: places are not empty.
  PoolWalk(std::vector<PoolPlace> places, const Options& options);

  struct Ask {
    std::size_t place = 0;
  };
  struct Queue {  // for room at this one
    std::size_t place = 0;
  };
  struct Pause {  // then next() says more
    Milliseconds time{0};
  };
  struct Stop {};  // error() says why
  using Step = std::variant<Ask, Queue, Pause, Stop>;
  // One view per place.
  Step next(std::span<const PlaceView> views, std::uint64_t now, PoolChance& chance);

  struct Failure {
    const Error& error;
    bool asked = true;  // false: the upstream was not asked, since it cannot take the request
  };
  // The place that next() named last failed.
  void failed(const Failure& failure, std::uint64_t now);
  // It is asked once more, at once, and that counts as no repeat.
  void again() { again_ = true; }

  const std::vector<PoolPlace>& places() const { return places_; }
  std::uint32_t tries() const { return tries_; }
  bool budget_was_empty() const { return budget_was_empty_; }
  // The most useful failure, with a word on the others.
  Error error(std::uint64_t now) const;

 private:
  struct Record {
    bool asked = false;
    bool hopeless = false;         // no try can help there
    std::uint64_t not_before = 0;  // of the clock; 0: any time
    std::unique_ptr<Error> error;  // of the last try; nullptr: there was none
  };

  std::optional<std::size_t> best_ready(std::span<const PlaceView> views, std::uint64_t now,
                                        PoolChance& chance);
  // REQUIRES: there are several.
  std::size_t choose_among(const std::vector<std::size_t>& group, std::span<const PlaceView> views,
                           PoolChance& chance) const;
  std::optional<std::size_t> best_queue(std::span<const PlaceView> views, std::uint64_t now) const;
  std::optional<std::size_t> best_out(std::span<const PlaceView> views, std::uint64_t now) const;
  Step wait_or_repeat(std::span<const PlaceView> views, std::uint64_t now, PoolChance& chance);
  std::optional<std::size_t> best_repeat(std::span<const PlaceView> views) const;
  Step ask(std::size_t place);
  bool is_open(std::size_t place) const { return !records_[place].asked; }
  std::uint64_t free_at(std::size_t place, std::span<const PlaceView> views) const;
  Milliseconds backoff(std::uint64_t random) const;

  const std::vector<PoolPlace> places_;
  const Options options_;
  std::vector<Record> records_;
  std::size_t current_ = 0;
  std::optional<std::size_t> skipped_;
  std::optional<std::size_t> after_pause_;
  std::uint64_t soonest_ = 0;  // when a limit would have allowed a request; 0: not known
  std::string limit_;          // which
  bool again_ = false;
  bool stopped_ = false;
  bool budget_was_empty_ = false;
  std::int64_t repeats_ = 0;
  std::uint32_t tries_ = 0;
};

}  // namespace callgate::server
