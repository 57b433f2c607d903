#include "turn/stored_responses.h"

#include <algorithm>
#include <utility>

#include "net/unix_time.h"

namespace callgate::server {
namespace {

// A gateway that has just started may be in the table of responses before it is in that of living nodes.
constexpr std::chrono::milliseconds kFirstSignOfLife{5'000};

std::string queue_name(const store::ResponseName& name) {
  return "response\n" + name.key_name + "\n" + name.id;
}

}  // namespace

void UnstoredResponses::drop(Place place) {
  bytes_ -= place->response.bytes();
  by_name_.erase(place->name);
  kept_.erase(place);
}

const UnstoredResponses::Kept* UnstoredResponses::find(const store::ResponseName& name,
                                                       std::int64_t now) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  if (found->second->expires_at > now) return &*found->second;
  drop(found->second);
  return nullptr;
}

std::optional<store::StoredResponse> UnstoredResponses::load(const store::ResponseName& name,
                                                             std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const Kept* kept = find(name, now);
  if (kept == nullptr) return std::nullopt;
  return kept->response;
}

std::optional<std::vector<store::ResponseLink>> UnstoredResponses::chain(
    const store::ResponseName& name, std::uint64_t most, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  std::vector<store::ResponseLink> links;
  std::uint64_t bytes = 0;
  store::ResponseName next = name;
  while (!next.id.empty() && links.size() <= static_cast<std::size_t>(store::kMaxChain)) {
    const Kept* kept = find(next, now);
    if (kept == nullptr) break;
    const store::StoredResponse& response = kept->response;
    bytes += response.input.size() + response.output.size();
    if (bytes > most) return std::nullopt;
    links.push_back({response.input, response.output, response.status, response.previous});
    next.id = response.previous;
  }
  std::reverse(links.begin(), links.end());
  return links;
}

void UnstoredResponses::save(const store::ResponseName& name, const store::StoredResponse& response,
                             const ResponseLimits& limits, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_name_.find(name); found != by_name_.end()) drop(found->second);
  kept_.push_back({name, response, now + limits.ttl.count()});
  by_name_[name] = std::prev(kept_.end());
  bytes_ += response.bytes();
  while (bytes_ > limits.unstored_bytes && kept_.size() > 1) drop(kept_.begin());
}

bool UnstoredResponses::erase(const store::ResponseName& name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  drop(found->second);
  return true;
}

void StoredResponses::set_limits(const ResponseLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

ResponseLimits StoredResponses::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

net::Task<Result<std::optional<store::StoredResponse>>> StoredResponses::load(
    net::Loop& loop, store::ResponseName name) {
  if (store_ == nullptr) co_return unstored_.load(name, net::unix_ms());
  const std::string key = queue_name(name);
  const auto query = [name](store::Sessions::Tables& tables) {
    return tables.responses.load(name);
  };
  auto loaded = co_await store_->ask(loop, key, query);
  co_return loaded;
}

net::Task<Result<std::optional<std::vector<store::ResponseLink>>>> StoredResponses::chain(
    net::Loop& loop, store::ResponseName name, std::uint64_t most) {
  if (store_ == nullptr) co_return unstored_.chain(name, most, net::unix_ms());
  const std::string key = queue_name(name);
  using Chain = std::optional<std::vector<store::ResponseLink>>;
  const auto query = [name, most](store::Sessions::Tables& tables) -> store::Attempt<Chain> {
    const auto bytes = tables.responses.chain_bytes(name);
    if (!bytes) return tl::unexpected(bytes.error());
    if (static_cast<std::uint64_t>(*bytes) > most) return Chain();
    auto links = tables.responses.chain(name);
    if (!links) return tl::unexpected(links.error());
    return Chain(std::move(*links));
  };
  auto links = co_await store_->ask(loop, key, query);
  co_return links;
}

net::Task<Result<bool>> StoredResponses::save(net::Loop& loop, store::ResponseName name,
                                              store::StoredResponse response,
                                              std::shared_ptr<const void> held) {
  const ResponseLimits limit = limits();
  if (store_ == nullptr) {
    unstored_.save(name, response, limit, net::unix_ms());
    co_return true;
  }
  const std::string key = queue_name(name);
  const auto query = [name, response = std::move(response), held = std::move(held),
                      ttl = limit.ttl](store::Sessions::Tables& tables) {
    return tables.responses.save(name, response, ttl);
  };
  auto saved = co_await store_->ask(loop, key, query);
  co_return saved;
}

net::Task<Result<bool>> StoredResponses::give_up(net::Loop& loop, store::ResponseName name,
                                                 std::string object) {
  if (store_ == nullptr) co_return false;
  const std::string key = queue_name(name);
  const auto query = [name, object = std::move(object),
                      node = node()](store::Sessions::Tables& tables) {
    return tables.responses.give_up(name, node, object, kFirstSignOfLife);
  };
  auto given_up = co_await store_->ask(loop, key, query);
  co_return given_up;
}

net::Task<Result<bool>> StoredResponses::erase(net::Loop& loop, store::ResponseName name) {
  if (store_ == nullptr) co_return unstored_.erase(name);
  const std::string key = queue_name(name);
  const auto query = [name](store::Sessions::Tables& tables) {
    return tables.responses.erase(name);
  };
  auto erased = co_await store_->ask(loop, key, query);
  co_return erased;
}

}  // namespace callgate::server
