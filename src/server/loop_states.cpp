#include "server/loop_states.h"

#include <algorithm>

namespace callgate::server {
namespace {

// Ids of calls are the model's own: callers must not meet each other's.
std::string id_of(std::string_view key_name, std::string_view call) {
  return std::string(key_name).append("\n").append(call);
}

}  // namespace

void LoopStates::set_limits(std::size_t bytes, std::uint64_t ttl_ms) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
  ttl_ms_ = ttl_ms;
}

void LoopStates::drop(Place place) {
  for (const std::string& id : place->ids) {
    if (const auto found = by_id_.find(id); found != by_id_.end() && found->second == place) {
      by_id_.erase(found);
    }
  }
  bytes_ -= place->text.size();
  kept_.erase(place);
}

void LoopStates::drop_old(std::uint64_t now) {
  while (!kept_.empty() && (kept_.front().until <= now || bytes_ > most_bytes_)) {
    drop(kept_.begin());
  }
}

void LoopStates::keep(std::string_view key_name, const loop::ReturnToClient& back,
                      std::uint64_t now) {
  Kept kept{.text = loop::encode_state(back.state)};
  for (const CallRecord& call : back.calls) kept.ids.push_back(id_of(key_name, call.id));
  const std::lock_guard lock(mutex_);
  if (kept.text.size() > most_bytes_) return;
  kept.until = now + ttl_ms_;
  bytes_ += kept.text.size();
  kept_.push_back(std::move(kept));
  const Place place = std::prev(kept_.end());
  for (const std::string& id : place->ids) by_id_[id] = place;
  drop_old(now);
}

std::optional<loop::State> LoopStates::find(std::string_view key_name, const Request& request,
                                            std::uint64_t now) {
  const auto said = std::find_if(request.messages.rbegin(), request.messages.rend(),
                                 [](const Message& message) { return !message.calls.empty(); });
  if (said == request.messages.rend()) return std::nullopt;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    drop_old(now);
    const auto found = by_id_.find(id_of(key_name, said->calls.front().id));
    if (found == by_id_.end()) return std::nullopt;
    text = found->second->text;
  }
  auto state = loop::decode_state(text);
  if (!state) return std::nullopt;
  return std::move(*state);
}

}  // namespace callgate::server
