#include "net/reactor/reactor.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>
#include <utility>

#include "net/descriptor.h"

namespace callgate::net {

namespace {

int opened(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

}  // namespace

Reactor::Reactor()
    : epoll_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  // Each write to it is an edge: nobody has to read it.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = this}};
  opened(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event), "epoll_ctl");
}

// What a callback throws ends its own event alone; the others of the batch would not come again.
template <class Call>
void Reactor::guarded(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("an event threw something that is no exception");
  }
}

void Reactor::report(std::string_view what) {
  if (log_) log_(what);
}

void Reactor::run() {
  while (!stopped_.load()) {
    int limit = 0;
    guarded([&] { limit = run_timers(); });
    poll(limit);
    if (has_posted_.load()) run_posted();
    if (!deferred_.empty()) guarded([this] { deferred_.run(); });
  }
  // Only now: a stop() that came before run() counts.
  stopped_.store(false);
}

void Reactor::stop() {
  stopped_.store(true);
  wake();
}

void Reactor::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    has_posted_.store(true);
  }
  wake();
}

// The loop says that it will sleep, then looks for news; we leave news, then look whether it sleeps. One of us sees the other.
void Reactor::wake() {
  if (!asleep_.exchange(false)) return;
  const std::uint64_t one = 1;
  const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  static_cast<void>(written);
}

void Reactor::run_posted() {
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
    has_posted_.store(false);
  }
  for (std::function<void()>& work : running_) {
    guarded([&] { std::exchange(work, nullptr)(); });
  }
  running_.clear();
}

std::uint64_t Reactor::ticks() const {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
         static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
}

void Reactor::arm(Deadline& deadline, Millis delay) {
  const std::uint64_t now = ticks();
  // An empty wheel has no one to move its clock.
  if (!scheduled_) wheel_.advance(now);
  // One more than asked: the current tick has partly gone.
  const auto wait = static_cast<std::uint64_t>(std::max<Millis::rep>(delay.count(), 0)) + 1;
  const std::uint64_t tick = std::max(now, wheel_.now()) + wait;
  wheel_.arm(deadline, tick);
  if (!scheduled_ || tick < *scheduled_) scheduled_ = tick;
}

// Gives the milliseconds until the next deadline, -1 when none is armed.
int Reactor::run_timers() {
  if (!scheduled_) return -1;
  std::uint64_t now = ticks();
  if (now >= *scheduled_) {
    wheel_.advance(now);
    scheduled_ = wheel_.next_tick();
    if (!scheduled_) return -1;
    now = ticks();
  }
  return *scheduled_ <= now ? 0
                            : static_cast<int>(std::min<std::uint64_t>(*scheduled_ - now, INT_MAX));
}

void Reactor::poll(int limit) {
  asleep_.store(true);
  const bool has_work = !deferred_.empty() || has_posted_.load() || stopped_.load();
  const int count = ::epoll_wait(epoll_.get(), events_.data(), kBatch, has_work ? 0 : limit);
  asleep_.store(false);
  // The whole batch, also after stop(): an edge is reported once.
  for (batch_ = std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
       !batch_.empty(); batch_ = batch_.subspan(1)) {
    guarded([this] { dispatch(batch_.front()); });
  }
}

void Reactor::dispatch(epoll_event& event) {
  if (event.data.ptr == this) {
    for (std::size_t i = 0; i < signals_.size(); ++i) signals_[i]->run();
    return;
  }
  const auto target = [&] { return static_cast<Descriptor*>(event.data.ptr); };
  constexpr std::uint32_t kEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;
  if (target() != nullptr && (event.events & (EPOLLIN | kEnd)) != 0) {
    target()->became_readable((event.events & kEnd) != 0);
  }
  // Whoever was woken may have closed it.
  if (target() != nullptr && (event.events & (EPOLLOUT | kBroken)) != 0) {
    target()->became_writable();
  }
  if (target() != nullptr) target()->lose_interest();
}

bool Reactor::observe(Descriptor& target, int fd, std::uint32_t events, bool known) {
  epoll_event event{.events = events | EPOLLET, .data = {.ptr = &target}};
  return ::epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0;
}

// Closing alone would not do: a child that is being started may share the socket for a moment.
void Reactor::forget(Descriptor& target, int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  for (epoll_event& event : batch_) {
    if (event.data.ptr == &target) event.data.ptr = nullptr;
  }
}

}  // namespace callgate::net
