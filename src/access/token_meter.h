// TokenMeter: what one turn uses of its key's limits on tokens and money, counted while it streams and corrected by what the
// upstream says in the end. Only for keys that have such limits; a turn of any other key has none.
//
//   meter.begin_answer("main", estimate_tokens(request));
//   ... meter.add(summary); if (meter.state() != Budget::State::free) wait or stop;
//   meter.end_answer(summary, true);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/access.h"
#include "callgate/pipeline.h"
#include "config/config.h"

namespace callgate::server {

class SharedLimits;

// How many tokens a model has probably written: servers that send a delta for each token say it themselves, otherwise three
// and a half bytes are one.
std::int64_t estimate_written(std::uint64_t bytes, std::uint64_t deltas);

class TokenMeter {
 public:
  struct Subject {
    KeyRef key;
    std::shared_ptr<const std::vector<PriceConfig>> prices;
    std::string model;
    SharedLimits* limits = nullptr;  // outlives the meter; nullptr: there is no store
    std::int64_t reserved = 0;       // of tokens_per_minute, when the turn was let in
  };
  explicit TokenMeter(Subject subject);
  // Gives back what was reserved for an answer that never came.
  ~TokenMeter();
  TokenMeter(const TokenMeter&) = delete;
  TokenMeter& operator=(const TokenMeter&) = delete;

  // An upstream answers. A turn may have many answers.
  void begin_answer(std::string_view upstream, std::int64_t prompt_tokens);
  // More of it was read.
  void add(const TurnSummary& summary);
  // It is over. `whole`: to its own end, so that what the upstream says of its usage counts.
  void end_answer(const TurnSummary& summary, bool whole);

  // The worst of the budgets.
  Budget::State state() const;
  // Asks for more of what is shared.
  void want_more() const;
  // Why it cannot go on: the budget that is used up, or whose rest is with other gateways and did not come in time.
  Error error() const;

  // Of the answer that ended last, and of all of them: stated where the upstream stated it, else estimated.
  const Usage& answer() const { return counted_; }
  Usage total() const;

 private:
  void count(const Usage& now);

  const Subject subject_;
  const PriceConfig* price_ = nullptr;
  std::int64_t reserved_;
  Usage counted_;  // of this answer
  std::int64_t counted_cost_ = 0;
  Usage before_;  // of those before
};

}  // namespace callgate::server
