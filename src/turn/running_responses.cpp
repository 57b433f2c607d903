#include "turn/running_responses.h"

#include <algorithm>
#include <utility>

namespace callgate::server {

void RunningResponse::wake_followers() {
  for (const std::shared_ptr<Follower>& follower : followers_) {
    follower->loop->post([follower] { follower->signal.notify(); });
  }
}

void RunningResponse::append(std::string_view frames) {
  const std::lock_guard lock(mutex_);
  events_.append(frames);
  wake_followers();
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
  return {.frames = events_.substr(std::min(from, events_.size())), .over = over_};
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
