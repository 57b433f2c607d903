#include "turn/loop_states.h"

#include <algorithm>

namespace callgate::server {
namespace {

// Ids of calls are the model's own: callers must not meet each other's.
std::string id_of(std::string_view key_name, std::string_view call) {
  return std::string(key_name).append("\n").append(call);
}

// Also of those that were too large, which have no bytes.
constexpr std::size_t kMostStates = 100'000;

Error gone(std::string_view why) {
  return {.code = ErrorCode::conflict,
          .message = "the tool loop that made these calls cannot go on: its state " +
                     std::string(why) + "; ask again without its calls and their results",
          .param = "messages"};
}

}  // namespace

void LoopStates::set_limits(std::size_t bytes, std::uint64_t ttl_ms) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
  ttl_ms_ = ttl_ms;
}

void LoopStates::set_loss_report(std::function<void(std::string_view)> report) {
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
}

void LoopStates::lost(std::string_view why) const {
  if (report_) report_(why);
}

void LoopStates::drop(Place place) {
  for (const std::string& id : place->ids) {
    if (const auto found = by_id_.find(id); found != by_id_.end() && found->second == place) {
      by_id_.erase(found);
    }
  }
  bytes_ -= place->bytes();
  kept_.erase(place);
}

void LoopStates::drop_old(std::uint64_t now) {
  while (!kept_.empty()) {
    const bool over = kept_.front().until <= now;
    const bool full = bytes_ > most_bytes_ || kept_.size() > kMostStates;
    if (!over && !full) return;
    if (!over && !kept_.front().too_large) lost("no_room");
    drop(kept_.begin());
  }
}

void LoopStates::keep(std::string_view key_name, const loop::ReturnToClient& back,
                      std::uint64_t now) {
  Kept kept{.text = loop::encode_state(back.state)};
  for (const CallRecord& call : back.calls) kept.ids.push_back(id_of(key_name, call.id));
  const std::lock_guard lock(mutex_);
  if (kept.text.size() > most_bytes_) {
    lost("too_large");
    kept.too_large = true;
    kept.text = {};
  }
  kept.until = now + ttl_ms_;
  bytes_ += kept.bytes();
  kept_.push_back(std::move(kept));
  const Place place = std::prev(kept_.end());
  for (const std::string& id : place->ids) by_id_[id] = place;
  drop_old(now);
}

Result<std::optional<loop::State>> LoopStates::find(std::string_view key_name,
                                                    const Request& request, std::uint64_t now) {
  const auto said = std::find_if(request.messages.rbegin(), request.messages.rend(),
                                 [](const Message& message) { return !message.calls.empty(); });
  if (said == request.messages.rend()) return std::nullopt;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    drop_old(now);
    const auto found = by_id_.find(id_of(key_name, said->calls.front().id));
    if (found == by_id_.end()) return std::nullopt;
    if (found->second->too_large) return tl::unexpected(gone("was too large to be kept"));
    text = found->second->text;
  }
  auto state = loop::decode_state(text);
  if (state) return std::move(*state);
  const std::lock_guard lock(mutex_);
  lost("unreadable");
  return tl::unexpected(gone("cannot be read"));
}

}  // namespace callgate::server
