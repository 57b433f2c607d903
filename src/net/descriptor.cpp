#include "net/descriptor.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "net/reactor/reactor.h"

namespace callgate::net {

namespace {

constexpr std::uint32_t kReading = EPOLLIN | EPOLLRDHUP;

}  // namespace

void Descriptor::close() {
  if (closed()) return;
  watcher_ = nullptr;
  for (Wait*& slot : waiters_) {
    Wait* const wait = std::exchange(slot, nullptr);
    if (wait == nullptr) continue;
    wait->descriptor_ = nullptr;
    wait->result_ = Ready::closed;
    loop_.defer(wait->deadline_);
  }
  if (events_ != 0) loop_.reactor().forget(*this, fd_);
  ::close(std::exchange(fd_, -1));
}

bool Descriptor::observe(std::uint32_t events) {
  if (!loop_.reactor().observe(*this, fd_, events, events_ != 0)) {
    loop_.report_fault(std::string("epoll_ctl: ") + std::strerror(errno));
    return false;
  }
  events_ = events;
  return true;
}

void Descriptor::became_readable(bool ended) {
  readable_ = true;
  if (ended) ended_ = true;
  if (Wait* const wait = waiter(Direction::read)) {
    wait->wake(Ready::yes);
  } else if (watcher_ != nullptr) {
    std::exchange(watcher_, nullptr)(watcher_context_);
  }
}

void Descriptor::became_writable() {
  if (Wait* const wait = waiter(Direction::write)) wait->wake(Ready::yes);
}

// A writer that waits again at once costs nothing; one that is done must not be told of each byte that the peer takes.
void Descriptor::lose_interest() {
  if ((events_ & EPOLLOUT) != 0 && waiter(Direction::write) == nullptr) observe(kReading);
}

Descriptor::Wait Descriptor::wait(Direction direction, Millis timeout) {
  return Wait(*this, direction, timeout);
}

void Descriptor::watch(Callback callback, void* context) {
  watcher_ = callback;
  watcher_context_ = context;
  // What was reported before is reported again.
  if (!closed() && (readable_ || events_ == 0)) observe(events_ | kReading);
}

bool Descriptor::Wait::await_ready() {
  if (descriptor_->closed()) {
    result_ = Ready::closed;
    return true;
  }
  return direction_ == Direction::read && descriptor_->readable_;
}

bool Descriptor::Wait::await_suspend(std::coroutine_handle<> waiter) {
  Descriptor& on = *descriptor_;
  CALLGATE_CHECK(on.waiter(direction_) == nullptr);
  const std::uint32_t wanted = kReading | (direction_ == Direction::write ? EPOLLOUT : 0u);
  if ((on.events_ & wanted) != wanted && !on.observe(on.events_ | wanted)) {
    result_ = Ready::closed;
    return false;
  }
  coroutine_ = waiter;
  on.waiter(direction_) = this;
  result_ = Ready::timed_out;
  deadline_.on_expiry(
      [](void* self) {
        auto& wait = *static_cast<Wait*>(self);
        wait.wake(wait.result_);
      },
      this);
  if (timeout_ != kNever) on.loop_.arm(deadline_, timeout_);
  return true;
}

void Descriptor::Wait::leave() {
  if (descriptor_ != nullptr && descriptor_->waiter(direction_) == this) {
    descriptor_->waiter(direction_) = nullptr;
  }
  descriptor_ = nullptr;
}

void Descriptor::Wait::wake(Ready result) {
  leave();
  deadline_.disarm();
  result_ = result;
  coroutine_.resume();
}

}  // namespace callgate::net
