#include "turn/loop_memories.h"

#include <utility>

#include "net/unix_time.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

std::size_t bytes_of(const store::MemoryName& name, const store::Memory& memory) {
  std::size_t bytes = name.key_name.size() + name.conversation.size() + memory.head.prompt.size() +
                      memory.head.pending.size();
  for (const std::string& message : memory.messages) bytes += message.size() + sizeof(message);
  return bytes;
}

}  // namespace

std::string claim_name(const store::MemoryName& name) {
  return "memory\n" + name.key_name + "\n" + name.conversation;
}

void UnstoredMemories::drop(Place place) {
  bytes_ -= place->bytes;
  by_name_.erase(place->name);
  kept_.erase(place);
}

std::optional<UnstoredMemories::Place> UnstoredMemories::find(const store::MemoryName& name,
                                                              std::int64_t now) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  if (found->second->memory.head.expires_at > now) return found->second;
  drop(found->second);
  return std::nullopt;
}

std::optional<store::Memory> UnstoredMemories::load(const store::MemoryName& name,
                                                    std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const auto place = find(name, now);
  if (!place) return std::nullopt;
  return (*place)->memory;
}

bool UnstoredMemories::append(const store::MemoryName& name, const store::MemoryStep& step,
                              const MemoryLimits& limits, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  auto place = find(name, now);
  if ((place ? (*place)->memory.head.step : std::string()) != step.after) return false;
  if (place) {
    bytes_ -= (*place)->bytes;
    kept_.splice(kept_.end(), kept_, *place);
  } else {
    kept_.push_back({.name = name, .memory = {.head = {.created_at = now}}});
    place = std::prev(kept_.end());
    by_name_[name] = *place;
  }
  Kept& kept = **place;
  kept.memory.messages.insert(kept.memory.messages.end(), step.messages.begin(),
                              step.messages.end());
  store::MemoryHead& head = kept.memory.head;
  head.step = step.step;
  head.messages = static_cast<std::int64_t>(kept.memory.messages.size());
  head.bytes = step.bytes;
  head.prompt = step.prompt;
  head.pending = step.pending;
  head.used_at = now;
  head.expires_at = now + limits.ttl.count();
  kept.bytes = bytes_of(name, kept.memory);
  bytes_ += kept.bytes;
  while (bytes_ > limits.unstored_bytes && kept_.size() > 1) drop(kept_.begin());
  return true;
}

bool UnstoredMemories::erase(const store::MemoryName& name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  drop(found->second);
  return true;
}

std::vector<store::ListedMemory> UnstoredMemories::list(const std::optional<std::string>& key_name,
                                                        std::size_t limit, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  std::vector<store::ListedMemory> listed;
  for (auto kept = kept_.rbegin(); kept != kept_.rend() && listed.size() < limit; ++kept) {
    if (kept->memory.head.expires_at <= now) continue;
    if (key_name && kept->name.key_name != *key_name) continue;
    listed.push_back({.name = kept->name, .head = kept->memory.head});
  }
  return listed;
}

void LoopMemories::set_limits(const MemoryLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

MemoryLimits LoopMemories::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

net::Task<Result<std::optional<store::Memory>>> LoopMemories::load(net::Loop& loop,
                                                                   store::MemoryName name) {
  if (store_ == nullptr) co_return unstored_.load(name, net::unix_ms());
  const auto query = [name](store::Sessions::Tables& tables) { return tables.memory.load(name); };
  const std::string key = claim_name(name);
  auto loaded = co_await store_->ask(loop, key, query);
  co_return loaded;
}

net::Task<Result<bool>> LoopMemories::append(net::Loop& loop, store::MemoryName name,
                                             store::MemoryStep step) {
  const MemoryLimits limit = limits();
  if (store_ == nullptr) co_return unstored_.append(name, step, limit, net::unix_ms());
  const std::string key = claim_name(name);
  const auto query = [name, step = std::move(step),
                      ttl = limit.ttl](store::Sessions::Tables& tables) {
    return tables.memory.append(name, step, ttl);
  };
  auto appended = co_await store_->ask(loop, key, query);
  co_return appended;
}

net::Task<Result<std::vector<store::ListedMemory>>> LoopMemories::list(
    net::Loop& loop, std::optional<std::string> key_name, std::size_t limit) {
  if (store_ == nullptr) co_return unstored_.list(key_name, limit, net::unix_ms());
  const auto query = [key_name, limit](store::Sessions::Tables& tables) {
    return tables.memory.list(key_name, limit);
  };
  const std::string key = "list";
  auto listed = co_await store_->ask(loop, key, query);
  co_return listed;
}

net::Task<Result<bool>> LoopMemories::forget(net::Loop& loop, store::MemoryName name) {
  if (store_ == nullptr) co_return unstored_.erase(name);
  const std::string key = claim_name(name);
  const auto query = [name](store::Sessions::Tables& tables) { return tables.memory.erase(name); };
  auto erased = co_await store_->ask(loop, key, query);
  co_return erased;
}

}  // namespace callgate::server
