#include "turn/retry_plan.h"

#include <algorithm>
#include <charconv>

#include "base/memory_budget.h"
#include "base/text.h"
#include "compress/content_decoder.h"
#include "net/client.h"
#include "session/conversation_claims.h"

namespace callgate::server {
namespace {

constexpr Milliseconds kLongestPause{10'000};
constexpr std::int64_t kMostDoublings = 6;

// retry-after in seconds; dates and nonsense count as "not said".
std::optional<Milliseconds> seconds_of(std::string_view text) {
  const auto seconds = saturated_number(text);
  if (!seconds) return std::nullopt;
  constexpr std::uint64_t kLongest = 365ull * 86'400;
  return Milliseconds(std::min(*seconds, kLongest) * 1000);
}

bool is_lasting(const Error& error) {
  return error.upstream_code == compress::kUnsupportedCoding ||
         error.upstream_code == compress::kTooDense ||
         error.upstream_code == net::kCertificateRefused;
}

}  // namespace

Remedy remedy_for(const Error& error) {
  if (error.upstream_code == kOutOfMemory) return Remedy::none;
  // callgate's own key was refused
  if (error.status == 401 || error.status == 403) return Remedy::elsewhere;
  switch (error.code) {
    case ErrorCode::rate_limited:
      return error.upstream_code == "insufficient_quota" ? Remedy::elsewhere : Remedy::later;
    case ErrorCode::upstream_failed:
      return is_lasting(error) ? Remedy::elsewhere : Remedy::later;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return Remedy::later;
    case ErrorCode::conflict:
      return error.upstream_code == kConversationBusy ? Remedy::none : Remedy::later;
    case ErrorCode::unauthenticated:
    case ErrorCode::forbidden:
    case ErrorCode::not_found:
    case ErrorCode::not_allowed:
    case ErrorCode::too_large:
    case ErrorCode::internal:
      return Remedy::elsewhere;
    case ErrorCode::invalid_request:
      return Remedy::none;
  }
  return Remedy::none;
}

RetryPlan::RetryPlan(const ModelConfig& model, std::size_t first)
    : model_(model),
      places_(model.upstream.size()),
      current_(first % model.upstream.size()),
      unasked_(model.upstream.size() - 1) {}

std::optional<Milliseconds> RetryPlan::after(const Failure& failure, std::uint64_t now_ms,
                                             IdMint& mint) {
  Remedy remedy = remedy_for(failure.error);
  if (!failure.asked) remedy = Remedy::elsewhere;
  if (remedy == Remedy::none) return std::nullopt;
  Place& place = places_[current_];
  place.hopeless = remedy != Remedy::later;
  if (const auto wait = seconds_of(failure.error.retry_after)) {
    place.not_before = now_ms + static_cast<std::uint64_t>(wait->count());
  }
  if (unasked_ > 0) {
    --unasked_;
    current_ = (current_ + 1) % places_.size();
    return Milliseconds(0);
  }
  const auto next = best_place();
  if (!next || retries_ >= model_.retries) return std::nullopt;
  Milliseconds pause = backoff(mint);
  if (const std::uint64_t due = places_[*next].not_before; due > now_ms) {
    pause = std::max(pause, Milliseconds(static_cast<std::int64_t>(due - now_ms)));
  }
  if (pause > kLongestPause) return std::nullopt;
  ++retries_;
  current_ = *next;
  return pause;
}

// The one that may be asked first; of several the next in the list.
std::optional<std::size_t> RetryPlan::best_place() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i <= places_.size(); ++i) {
    const std::size_t at = (current_ + i) % places_.size();
    if (places_[at].hopeless) continue;
    if (!best || places_[at].not_before < places_[*best].not_before) best = at;
  }
  return best;
}

Milliseconds RetryPlan::backoff(IdMint& mint) const {
  const Milliseconds base =
      model_.retry_backoff * (std::int64_t{1} << std::min(retries_, kMostDoublings));
  const auto spread = static_cast<std::uint64_t>(base.count() + 1);
  return base / 2 + Milliseconds(static_cast<std::int64_t>(mint.next() % spread));
}

}  // namespace callgate::server
