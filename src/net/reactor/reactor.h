// Reactor: what a Loop is made of: epoll, an eventfd that other threads wake it with, and the timer wheel. Private to net.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "net/loop.h"
#include "net/owned_fd.h"
#include "net/reactor/signal_watch.h"
#include "net/timer_wheel.h"

namespace callgate::net {

class Descriptor;

// A spawned task, linked into its reactor until it ends.
struct Root {
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;
};

class Reactor {
 public:
  Reactor();
  ~Reactor();

  void run();
  // Any thread.
  void stop();
  void post(std::function<void()> work);

  std::uint64_t ticks() const;
  void arm(Deadline& deadline, Millis delay);
  void defer(Deadline& deadline) { deferred_.add(deadline); }
  void report(std::string_view what);

  // Reports edges of `events` on `fd` to `target`, at first also what is ready already. `known`: it did so before, with other events
  // or the same. False: the kernel refuses.
  bool observe(Descriptor& target, int fd, std::uint32_t events, bool known);
  // Reports nothing more, not even what epoll has given already.
  void forget(Descriptor& target, int fd);

 private:
  friend class Loop;
  friend struct Root::promise_type;

  static constexpr std::size_t kBatch = 128;
  using Work = std::vector<std::function<void()>>;

  void wake();
  int run_timers();
  void poll(int limit);
  void dispatch(epoll_event& event);
  void run_posted();
  template <class Call>
  void guarded(Call call);

  OwnedFd epoll_;  // first: what the others own is taken out of it
  OwnedFd wake_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> asleep_ = false;      // whoever has news writes to wake_
  std::atomic<bool> has_posted_ = false;  // a hint; the truth is under the mutex
  std::mutex mutex_;
  Work posted_;
  Work running_;  // its memory is used again
  TimerWheel wheel_;
  std::optional<std::uint64_t>
      scheduled_;  // no deadline comes before this tick; empty: none is armed
  DeadlineList deferred_;
  std::vector<std::unique_ptr<SignalWatch>> signals_;
  std::array<epoll_event, kBatch> events_;
  std::span<epoll_event> batch_;  // the event being handled and those after it
  std::unique_ptr<std::array<char, 64 * 1024>> buffer_;
  std::function<void(std::string_view)> log_;
  Root::promise_type* roots_ = nullptr;
};

}  // namespace callgate::net
