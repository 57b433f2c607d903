#include "dial/pool/lane.h"

#include <algorithm>
#include <utility>

#include "base/quoted.h"

namespace callgate::server {
namespace {

constexpr Milliseconds kShortestPatience{2'000};
constexpr Milliseconds kLongestPatience{16'000};  // with one that never answered
constexpr double kPatienceFactor = 4;
constexpr std::size_t kLongestReason = 500;

bool is_same_server(const UpstreamConfig& a, const UpstreamConfig& b) {
  return a.url == b.url && a.wire == b.wire && a.key == b.key && a.command == b.command &&
         a.headers == b.headers;
}

std::string reason_of(const Error& error) {
  if (error.status != 0) return "it answered " + std::to_string(error.status);
  return shortened(error.message, kLongestReason);
}

}  // namespace

void Lane::use(const UpstreamConfig& config, std::uint64_t now) {
  if (!is_same_server(config, config_)) {
    breaker_ = {};
    first_tokens_.clear();
    not_before_ = 0;
  }
  config_ = config;
  breaker_.set_options({.failures = config.eject_after,
                        .pause = config.eject_pause,
                        .longest = std::max(config.eject_pause, config.eject_pause_max)});
  requests_limit_.set(config.requests_per_minute, now);
  tokens_limit_.set(config.tokens_per_minute, now);
}

Lane::Attempt Lane::begin(bool stream, bool trial, std::int64_t tokens, std::uint64_t slow_after,
                          std::uint64_t now) {
  Attempt attempt{.id = ++next_id_,
                  .began = now,
                  .slow_after = slow_after,
                  .tokens = tokens,
                  .stream = stream,
                  .trial = trial};
  ++in_flight_;
  ++requests_;
  if (stream) waits_.emplace(attempt.id, now);
  requests_limit_.take(1, now);
  tokens_limit_.take(tokens, now);
  if (trial) {
    ++trials_;
    breaker_.begin_trial(now);
  }
  return attempt;
}

Lane::News Lane::heard(Attempt& attempt, std::uint64_t now, std::uint64_t random) {
  if (std::exchange(attempt.heard, true)) return News::none;
  waits_.erase(attempt.id);
  last_heard_ = now;
  if (attempt.stream) first_tokens_.add(now - attempt.began);
  if (!breaker_.is_open()) return News::none;
  switch (breaker_.trouble()) {
    case Trouble::cut:  // that it begins to answer was never in doubt
      return News::none;
    case Trouble::slow: {
      if (!attempt.trial) return News::none;
      if (attempt.slow_after == 0 || now - attempt.began <= attempt.slow_after) break;
      breaker_.failed(Trouble::slow, breaker_.reason(), now, random);
      return News::none;
    }
    case Trouble::failure:
    case Trouble::silence:
      break;
  }
  return breaker_.succeeded(now) ? News::restored : News::none;
}

void Lane::end(Attempt& attempt) {
  if (attempt.trial) --trials_;
  waits_.erase(attempt.id);
  --in_flight_;
  attempt.id = 0;
}

Lane::News Lane::succeeded(Attempt& attempt, std::optional<std::int64_t> tokens,
                           std::uint64_t now) {
  end(attempt);
  if (tokens) tokens_limit_.correct(attempt.tokens, *tokens, now);
  last_heard_ = now;
  const bool was_slow = breaker_.is_open() && breaker_.trouble() == Trouble::slow;
  if (was_slow) {
    // One that does not stream shows only that it works.
    if (attempt.trial && !attempt.heard) breaker_.abandon_trial();
    return News::none;
  }
  return breaker_.succeeded(now) ? News::restored : News::none;
}

Lane::News Lane::failed(Attempt& attempt, const Error& error, std::uint64_t now,
                        std::uint64_t random) {
  const bool began = attempt.heard;
  const bool trial = attempt.trial;
  end(attempt);
  tokens_limit_.correct(attempt.tokens, 0, now);
  limit(error, now);
  // Of several trials one has found out that the upstream is well: the others began before that.
  if (trial && !began && !breaker_.is_open()) return News::none;
  const auto trouble = trouble_of(error, began);
  if (!trouble) {
    // It is well enough to say no.
    last_heard_ = now;
    if (remedy_for(error) == Remedy::none && error.status == 0) {
      if (trial) breaker_.abandon_trial();
      return News::none;
    }
    return breaker_.succeeded(now) ? News::restored : News::none;
  }
  ++failures_;
  return breaker_.failed(*trouble, reason_of(error), now, random) ? News::ejected : News::none;
}

void Lane::abandoned(Attempt& attempt, std::uint64_t now) {
  const bool trial = attempt.trial && !attempt.heard;
  end(attempt);
  tokens_limit_.correct(attempt.tokens, 0, now);
  if (trial) breaker_.abandon_trial();
}

Lane::News Lane::checked(bool well, std::string reason, std::uint64_t now, std::uint64_t random) {
  if (!well) {
    return breaker_.failed(Trouble::failure, std::move(reason), now, random) ? News::ejected
                                                                             : News::none;
  }
  // A check proves little of requests: it takes back what a check, or a plain refusal, began.
  const bool believable = breaker_.is_open() && breaker_.trouble() == Trouble::failure;
  return believable && breaker_.succeeded(now) ? News::restored : News::none;
}

void Lane::limit(const Error& error, std::uint64_t now) {
  const auto pause = named_pause(error);
  if (!pause || remedy_for(error) != Remedy::later) return;
  not_before_ = std::max(not_before_, now + static_cast<std::uint64_t>(pause->count()));
  asked_for_pause_ = shortened(error.message, kLongestReason);
}

std::string Lane::limit_reason(std::uint64_t now) const {
  if (not_before_ > now) return "it asked for a pause: " + asked_for_pause_;
  if (is_full()) return "max_in_flight is reached";
  return "requests_per_minute or tokens_per_minute is used up";
}

Lane::News Lane::look_at_waits(std::uint64_t slow_after, std::uint64_t now, std::uint64_t random) {
  if (breaker_.is_open() || waits_.empty()) return News::none;
  const auto longest = static_cast<std::uint64_t>(config_.slow_first_byte.count());
  std::size_t forgotten = 0;
  std::uint64_t oldest = 0;
  for (const auto& [id, began] : waits_) {
    if (began < last_heard_) continue;  // it may simply take long
    const std::uint64_t age = now - std::min(now, began);
    if (oldest == 0) oldest = age;
    if (slow_after == 0 || age <= slow_after) break;  // those that follow began later
    if (++forgotten == FirstTokens::kEnough) break;
  }
  const bool alone = longest > 0 && oldest >= longest;
  if (!alone && forgotten < FirstTokens::kEnough) return News::none;
  std::string reason = "requests wait for " + std::to_string(oldest) + " ms without a word";
  return breaker_.failed(Trouble::silence, std::move(reason), now, random) ? News::ejected
                                                                           : News::none;
}

bool Lane::is_slower_than(std::uint64_t slow_after) const {
  const auto least = first_tokens_.least();
  return slow_after > 0 && least && *least > slow_after;
}

Lane::News Lane::eject_slow(std::uint64_t slow_after, std::uint64_t now, std::uint64_t random) {
  if (breaker_.is_open()) return News::none;
  std::string reason = "its answers begin after " + std::to_string(*first_tokens_.least()) +
                       " ms at best, more than " + std::to_string(slow_after) +
                       " ms are slow beside its peers";
  return breaker_.failed(Trouble::slow, std::move(reason), now, random) ? News::ejected
                                                                        : News::none;
}

// Long enough for what it took before it fell silent. If that is unknown, each copy waits twice as long.
Milliseconds Lane::trial_patience() const {
  Milliseconds patience = kShortestPatience;
  if (const auto average = first_tokens_.average()) {
    patience =
        std::max(patience, Milliseconds(static_cast<std::int64_t>(*average * kPatienceFactor)));
  } else {
    for (std::int64_t i = 0; i < breaker_.trials() && patience < kLongestPatience; ++i) {
      patience *= 2;
    }
  }
  if (config_.first_byte_timeout.count() == 0) return patience;
  return std::min(patience, config_.first_byte_timeout);
}

// Children and web chats keep conversations: a copy would become a part of them.
bool Lane::tries_in_earnest() const {
  if (config_.is_child() || config_.wire == "qwen_web") return true;
  return breaker_.trouble() == Trouble::failure || breaker_.trouble() == Trouble::slow;
}

std::uint64_t Lane::free_at(std::int64_t tokens, std::uint64_t now) {
  std::uint64_t at = not_before_ > now ? not_before_ : 0;
  if (config_.requests_per_minute > 0) at = std::max(at, requests_limit_.free_at(1, now));
  if (config_.tokens_per_minute > 0) at = std::max(at, tokens_limit_.free_at(tokens, now));
  return at;
}

void Lane::leave_line(const Waiting& waiting) {
  std::erase_if(line_, [&](const auto& other) { return other.get() == &waiting; });
}

std::shared_ptr<Lane::Waiting> Lane::admit_next(std::uint64_t now) {
  if (line_.empty() || is_full()) return nullptr;
  std::shared_ptr<Waiting> first = std::move(line_.front());
  line_.pop_front();
  first->room = begin(first->stream, false, first->tokens, 0, now);
  return first;
}

}  // namespace callgate::server
