#include "front/admission.h"

#include <chrono>

#include "access/shared_limits.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

std::chrono::nanoseconds monotonic_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// As OpenAI writes them: 1s, 6m0s, 250ms.
std::string reset_text(std::chrono::nanoseconds value) {
  const auto ms = std::chrono::duration_cast<Milliseconds>(value).count();
  if (ms < 1000) return std::to_string(ms) + "ms";
  const auto seconds = (ms + 999) / 1000;
  if (seconds < 60) return std::to_string(seconds) + "s";
  return std::to_string(seconds / 60) + "m" + std::to_string(seconds % 60) + "s";
}

void add_rate_headers(net::Headers& headers, const RateLimit::Verdict& verdict) {
  headers.add("x-ratelimit-limit-requests", std::to_string(verdict.limit));
  headers.add("x-ratelimit-remaining-requests", std::to_string(verdict.remaining));
  headers.add("x-ratelimit-reset-requests", reset_text(verdict.reset));
  if (verdict.allowed) return;
  const auto ms = std::chrono::ceil<Milliseconds>(verdict.retry_after).count();
  headers.add("retry-after", std::to_string((ms + 999) / 1000));
  headers.add("retry-after-ms", std::to_string(ms));
}

}  // namespace

bool is_foreign_page(const Ask& ask) {
  const std::string_view origin = ask.exchange.head().headers.find("origin").value_or("");
  const Config& config = ask.snapshot->config;
  return !origin.empty() &&
         allowed_origin(origin, config.cors.origins, listens_on_loopback_only(config)).empty();
}

Result<void> admit_turn(World& world, const Snapshot& snapshot, KeyState* key,
                        net::Headers& headers) {
  if (snapshot.config.maintenance || world.draining.load(std::memory_order_relaxed)) {
    headers.add("retry-after", "5");
    return fail(ErrorCode::unavailable,
                world.draining ? "the gateway is shutting down" : "the gateway is in maintenance");
  }
  if (snapshot.config.store.when_down == "closed" && world.requests.is_down()) {
    headers.add("retry-after", "5");
    return fail(ErrorCode::unavailable, "the store is down");
  }
  if (key == nullptr || !key->rate.limited()) return {};
  const RateLimit::Verdict verdict = key->rate.take(monotonic_now());
  if (verdict.low && world.limits != nullptr) world.limits->want_more();
  add_rate_headers(headers, verdict);
  if (verdict.allowed) return {};
  observe_rate_limited(world, key->config.name);
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "rate limit of " + std::to_string(verdict.limit) +
                                         " requests per minute reached for key \"" +
                                         key->config.name + "\"",
                              .upstream_code = "rate_limit_exceeded"});
}

TurnSlots::TurnSlots(World& world, KeyState* key) : slot_(world.streams) {
  if (key == nullptr) return;
  key_slot_.emplace(key->streams);
  if (world.limits != nullptr && key->streams.full()) world.limits->want_more();
}

std::optional<Error> TurnSlots::refusal() const {
  if (slot_ && (!key_slot_ || *key_slot_)) return std::nullopt;
  return Error{.code = ErrorCode::rate_limited,
               .message = slot_ ? "this key has too many requests running"
                                : "the gateway has too many requests running",
               .upstream_code = "too_many_streams",
               .retry_after = "1"};
}

}  // namespace callgate::server
