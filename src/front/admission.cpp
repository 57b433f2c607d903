#include "front/admission.h"

#include <chrono>

#include "access/page_rules.h"
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

Error too_many_keys(std::chrono::nanoseconds wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return {.code = ErrorCode::rate_limited,
          .message = "too many wrong API keys came from this address",
          .upstream_code = "too_many_wrong_keys",
          .retry_after = std::to_string(seconds)};
}

}  // namespace

std::optional<Objection> object_to_page(const Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  const Arrival arrival{.secure = ask.exchange.secure(), .local = ask.exchange.peer() == "unix"};
  if (auto error = check_page(head, arrival, ask.snapshot->config)) {
    return Objection{std::move(*error), 403};
  }
  if (auto error = check_content_type(head)) return Objection{std::move(*error), 415};
  return std::nullopt;
}

Result<void> admit_key(World& world, Ask& ask, std::string_view authorization,
                       std::string_view x_api_key) {
  const Access& access = ask.snapshot->access;
  if (access.open()) return {};
  const auto key = access.authenticate(authorization, x_api_key);
  const std::uint64_t address = world.wrong_keys.identity(ask.exchange.peer_host());
  const bool known = key && (*key)->addresses.contains(address);
  const auto now = monotonic_now();
  const auto wait = known ? std::chrono::nanoseconds(0) : world.wrong_keys.wait(address, now);
  if (key && wait.count() == 0) {
    ask.key = *key;
    if (!known) ask.key->addresses.add(address);
    return {};
  }
  if (!key && key.error().code == ErrorCode::unavailable) return tl::unexpected(key.error());
  observe_auth_failure(world);
  // A right key has to wait as well: else the answer would say that it is right.
  if (wait.count() > 0) return tl::unexpected(too_many_keys(wait));
  const bool guessed = !authorization.empty() || !x_api_key.empty();
  if (guessed && key.error().upstream_code.empty()) world.wrong_keys.count(address, now);
  return tl::unexpected(key.error());
}

net::Task<Result<std::string_view>> read_body(World& world, Ask& ask) {
  const BodyPlace place(world, ask);
  if (auto busy = place.refusal()) co_return tl::unexpected(std::move(*busy));
  co_return co_await ask.exchange.body(ask.snapshot->config.limits.max_body.count);
}

net::Task<Result<std::string_view>> read_turn_body(World& world, Ask& ask) {
  if (auto busy = TurnSlots(world, ask.key).refusal()) co_return tl::unexpected(std::move(*busy));
  co_return co_await read_body(world, ask);
}

BodyPlace::BodyPlace(World& world, const Ask& ask) {
  if (ask.exchange.has_whole_body()) return;
  place_.emplace(world.bodies);
  if (ask.key != nullptr) key_place_.emplace(ask.key->bodies);
}

std::optional<Error> BodyPlace::refusal() const {
  if ((!place_ || *place_) && (!key_place_ || *key_place_)) return std::nullopt;
  return Error{.code = ErrorCode::rate_limited,
               .message = "too many request bodies are on their way",
               .upstream_code = "too_many_bodies",
               .retry_after = "1"};
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

TurnSlots::TurnSlots(World& world, KeyRef key) : key_(std::move(key)), slot_(world.streams) {
  if (key_ == nullptr) return;
  key_slot_.emplace(key_->streams);
  if (world.limits != nullptr && key_->streams.full()) world.limits->want_more();
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
