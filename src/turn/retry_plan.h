// Which upstream is asked next, and when, after one has failed. Decides only: nothing here waits or asks the time.
//
// Every upstream of the model's list is asked once, without a pause. What is left after that are the model's `retries`:
// upstreams whose failure may pass are asked again, after a growing pause, and never before the time that they named.
// A failure that is the request's own ends the plan at once: no upstream would take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "callgate/error.h"
#include "callgate/request.h"
#include "config/config.h"

namespace callgate::server {

// What helps against a failure.
enum class Remedy : std::uint8_t {
  none,       // the request itself is at fault
  elsewhere,  // another upstream may do better
  later,      // so may the same one, after a while
};
Remedy remedy_for(const Error& error);

class RetryPlan {
 public:
  // `first`: where in the list to begin. REQUIRES: the model outlives the plan; upstreams > 0.
  RetryPlan(const ModelConfig& model, std::size_t first);

  // The upstream to ask now, as its place in the model's list.
  std::size_t upstream() const { return current_; }

  struct Failure {
    const Error& error;
    bool asked = true;  // false: the upstream was not asked, since it cannot take the request
  };
  // After a failure of upstream(), at `now_ms`: the pause before the next one, nothing when the plan is at its end. `mint`
  // spreads the pauses of many requests.
  std::optional<Milliseconds> after(const Failure& failure, std::uint64_t now_ms, IdMint& mint);

 private:
  struct Place {
    bool hopeless = false;         // no try can help there
    std::uint64_t not_before = 0;  // of the clock; 0: any time
  };

  std::optional<std::size_t> best_place() const;
  Milliseconds backoff(IdMint& mint) const;

  const ModelConfig& model_;
  std::vector<Place> places_;
  std::size_t current_;
  std::size_t unasked_;       // places of the list that are left for the first pass
  std::int64_t retries_ = 0;  // that were used
};

// A turn that must make a call is not taken without one: the model is asked once more. Only where it was asked in words;
// an upstream that takes `tool_choice` has its own way.
class InsistPlan {
 public:
  explicit InsistPlan(const ToolChoice& choice)
      : wanted_(choice.mode == ToolChoice::Mode::required ||
                choice.mode == ToolChoice::Mode::named) {}

  // Whether a turn is held back until it makes a call. `in_words`: the model knows its tools from its prompt alone.
  bool holds(bool in_words) const { return wanted_ && in_words; }
  // A turn without a call was thrown away. The next one is taken as it is.
  bool insisted() const { return insisted_; }
  void insist() { insisted_ = true; }

 private:
  bool wanted_;
  bool insisted_ = false;
};

}  // namespace callgate::server
