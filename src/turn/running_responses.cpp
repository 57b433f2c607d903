#include "turn/running_responses.h"

#include <algorithm>
#include <utility>

namespace callgate::server {
namespace {

// Each follower has a copy of what it gets, and may take it slowly.
constexpr std::size_t kPiece = std::size_t{256} << 10;

// Where a piece that begins at `from` ends: behind the last frame that fits, or the first if that is longer.
std::size_t piece_end(std::string_view events, std::size_t from) {
  constexpr std::string_view kFrameEnd = "\n\n";
  if (events.size() - from <= kPiece) return events.size();
  std::size_t end = events.substr(from, kPiece).rfind(kFrameEnd);
  if (end == std::string_view::npos) end = events.substr(from).find(kFrameEnd);
  return end == std::string_view::npos ? events.size() : from + end + kFrameEnd.size();
}

}  // namespace

void RunningResponse::wake_followers() {
  for (const std::shared_ptr<Follower>& follower : followers_) {
    follower->loop->post([follower] { follower->signal.notify(); });
  }
}

bool RunningResponse::append(std::string_view frames) {
  const std::lock_guard lock(mutex_);
  if (!memory_.grow_to(2 * (events_.size() + frames.size()))) return false;
  events_.append(frames);
  wake_followers();
  return true;
}

void RunningResponse::finish(std::string object) {
  on_cancel_ = {};
  const std::lock_guard lock(mutex_);
  object_ = std::move(object);
  over_ = true;
  wake_followers();
}

void RunningResponse::cancel() {
  {
    const std::lock_guard lock(mutex_);
    if (over_ || std::exchange(cancelled_, true)) return;
  }
  loop_.post([self = shared_from_this()] {
    if (self->on_cancel_) self->on_cancel_();
  });
}

bool RunningResponse::is_cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

bool RunningResponse::is_over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

std::string RunningResponse::object() const {
  const std::lock_guard lock(mutex_);
  return object_;
}

std::string RunningResponse::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

RunningResponse::News RunningResponse::read(std::size_t from) const {
  const std::lock_guard lock(mutex_);
  from = std::min(from, events_.size());
  const std::size_t end = piece_end(events_, from);
  return {.frames = events_.substr(from, end - from), .over = over_ && end == events_.size()};
}

void RunningResponse::follow(const std::shared_ptr<Follower>& follower) {
  const std::lock_guard lock(mutex_);
  followers_.push_back(follower);
}

void RunningResponse::leave(const Follower& follower) {
  const std::lock_guard lock(mutex_);
  std::erase_if(followers_, [&](const auto& each) { return each.get() == &follower; });
}

void RunningResponses::add(const std::shared_ptr<RunningResponse>& response) {
  const std::lock_guard lock(mutex_);
  running_[response->name()] = response;
}

void RunningResponses::remove(const store::ResponseName& name) {
  const std::lock_guard lock(mutex_);
  running_.erase(name);
}

std::shared_ptr<RunningResponse> RunningResponses::find(const store::ResponseName& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(name);
  return found == running_.end() ? nullptr : found->second;
}

}  // namespace callgate::server
