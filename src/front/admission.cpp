#include "front/admission.h"

#include <algorithm>
#include <chrono>

#include "access/page_rules.h"
#include "access/shared_limits.h"
#include "chat/token_estimate.h"
#include "config/price.h"
#include "net/unix_time.h"
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

// `what` is requests or tokens.
void add_rate_headers(net::Headers& headers, const std::string& what,
                      const RateLimit::Verdict& verdict) {
  headers.add("x-ratelimit-limit-" + what, std::to_string(verdict.limit));
  headers.add("x-ratelimit-remaining-" + what, std::to_string(verdict.remaining));
  headers.add("x-ratelimit-reset-" + what, reset_text(verdict.reset));
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

std::unique_ptr<Objection> object_to_page(const Ask& ask, BodyType body) {
  const net::RequestHead& head = ask.exchange.head();
  const Arrival arrival{.secure = ask.exchange.secure(), .local = ask.exchange.peer() == "unix"};
  if (auto error = check_page(head, arrival, ask.snapshot->config)) {
    return std::make_unique<Objection>(Objection{std::move(*error), 403});
  }
  if (body == BodyType::any) return nullptr;
  if (auto error = check_content_type(head)) {
    return std::make_unique<Objection>(Objection{std::move(*error), 415});
  }
  return nullptr;
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

static net::Task<Result<std::string_view>> read_body_of(World& world, Ask& ask, bool turn) {
  if (turn) {
    auto busy = TurnSlots(world, ask.key, ask.address).refusal();
    if (busy) co_return tl::unexpected(std::move(*busy));
  }
  const BodyPlace place(world, ask);
  if (auto busy = place.refusal()) co_return tl::unexpected(std::move(*busy));
  co_return co_await ask.exchange.body(ask.snapshot->config.limits.max_body.count);
}

net::Task<Result<std::string_view>> read_body(World& world, Ask& ask) {
  auto body = co_await read_body_of(world, ask, false);
  if (!body) co_return body;
  auto held = reserve_for(world, ask, body->size());
  if (!held) co_return tl::unexpected(std::move(held.error()));
  co_return body;
}

Result<void> reserve_for(World& world, Ask& ask, std::size_t body) {
  ask.memory = Reservation(&world.memory, MemoryUse::need);
  if (!ask.memory.grow_to(2 * body)) return tl::unexpected(out_of_memory());
  return {};
}

net::Task<Result<std::string_view>> read_turn_body(World& world, Ask& ask) {
  return read_body_of(world, ask, true);
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

Result<void> admit_address(World& world, Ask& ask, net::Headers& headers) {
  if (!world.addresses.on()) return {};
  const auto now = monotonic_now();
  ask.address = world.addresses.find(ask.exchange.peer_host(), now);
  if (ask.address == nullptr || !ask.address->rate.limited()) return {};
  const RateLimit::Verdict verdict = ask.address->rate.take(now);
  if (verdict.low && world.limits != nullptr) world.limits->want_more();
  if (verdict.allowed) return {};
  add_rate_headers(headers, "requests", verdict);
  observe_rate_limited(world, "");
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "rate limit of " + std::to_string(verdict.limit) +
                                         " requests per minute reached for the address of this "
                                         "client",
                              .upstream_code = "rate_limit_exceeded"});
}

// What is left to other gateways may still come; only what is used up for all is refused here.
static Result<void> check_budgets(World& world, const KeyState& key) {
  if (key.budgets.empty()) return {};
  const std::int64_t now = net::unix_ms();
  for (const auto& budget : key.budgets) {
    if (budget->state(now) != Budget::State::used_up) continue;
    observe_budget(world, key.config.name, "refused");
    return tl::unexpected(budget->error(key.config.name, now));
  }
  return {};
}

// Money cannot be counted where something has no price.
static Result<void> check_prices(const TurnToAdmit& turn) {
  const auto& budgets = turn.key->budgets;
  const bool in_money = std::any_of(budgets.begin(), budgets.end(),
                                    [](const auto& budget) { return budget->in_money(); });
  if (!in_money) return {};
  for (const std::string& upstream : turn.model.upstream) {
    if (find_price(turn.snapshot->config.prices, turn.model.name, upstream) != nullptr) continue;
    return fail(ErrorCode::forbidden, "key \"" + turn.key->config.name +
                                          "\" has a budget in money, and there is no [[price]] of "
                                          "model \"" +
                                          turn.model.name + "\" at upstream \"" + upstream + "\"");
  }
  return {};
}

static Result<void> take_tokens(World& world, KeyState& key, std::int64_t tokens,
                                net::Headers& headers) {
  const std::int64_t limit = key.tokens.per_minute();
  RateLimit::Verdict verdict{.allowed = false, .limit = limit};
  const bool fits = tokens <= limit;
  if (fits) verdict = key.tokens.take(monotonic_now(), tokens);
  if (verdict.low && world.limits != nullptr) world.limits->want_more();
  if (fits) add_rate_headers(headers, "tokens", verdict);
  if (verdict.allowed) return {};
  observe_rate_limited(world, key.config.name);
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "rate limit of " + std::to_string(limit) +
                                         " tokens per minute reached for key \"" + key.config.name +
                                         "\"; the request has about " + std::to_string(tokens),
                              .type = "tokens",
                              .upstream_code = fits ? "rate_limit_exceeded" : "request_too_large"});
}

Result<std::shared_ptr<TokenMeter>> admit_tokens(World& world, const TurnToAdmit& turn,
                                                 net::Headers& headers) {
  if (turn.key == nullptr || !turn.key->counts_tokens()) return nullptr;
  if (auto priced = check_prices(turn); !priced) return tl::unexpected(priced.error());
  std::int64_t reserved = 0;
  if (turn.key->tokens.limited()) {
    reserved = estimate_tokens(turn.request);
    auto taken = take_tokens(world, *turn.key.operator->(), reserved, headers);
    if (!taken) return tl::unexpected(taken.error());
  }
  return std::make_shared<TokenMeter>(
      TokenMeter::Subject{.key = turn.key,
                          .prices = {turn.snapshot, &turn.snapshot->config.prices},
                          .model = turn.model.name,
                          .limits = world.limits,
                          .reserved = reserved});
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
  if (key == nullptr) return {};
  if (auto open = check_budgets(world, *key); !open) return open;
  if (!key->rate.limited()) return {};
  const RateLimit::Verdict verdict = key->rate.take(monotonic_now());
  if (verdict.low && world.limits != nullptr) world.limits->want_more();
  add_rate_headers(headers, "requests", verdict);
  if (verdict.allowed) return {};
  observe_rate_limited(world, key->config.name);
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "rate limit of " + std::to_string(verdict.limit) +
                                         " requests per minute reached for key \"" +
                                         key->config.name + "\"",
                              .upstream_code = "rate_limit_exceeded"});
}

TurnSlots::TurnSlots(World& world, KeyRef key, KeyRef address)
    : key_(std::move(key)), address_(std::move(address)), slot_(world.streams) {
  if (address_ != nullptr) address_slot_.emplace(address_->streams);
  if (key_ == nullptr) return;
  key_slot_.emplace(key_->streams);
  if (world.limits != nullptr && key_->streams.full()) world.limits->want_more();
}

std::unique_ptr<Error> TurnSlots::refusal() const {
  const bool from_address = !address_slot_ || *address_slot_;
  if (slot_ && from_address && (!key_slot_ || *key_slot_)) return nullptr;
  const std::string_view whose = !slot_          ? "the gateway"
                                 : !from_address ? "the address of this client"
                                                 : "this key";
  return std::make_unique<Error>(
      Error{.code = ErrorCode::rate_limited,
            .message = std::string(whose) + " has too many requests running",
            .upstream_code = "too_many_streams",
            .retry_after = "1"});
}

}  // namespace callgate::server
