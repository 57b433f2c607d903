// Reactor: what a Loop is made of. Private to net: the only header that shows Asio.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/loop.h"
#include "net/timer_wheel.h"

namespace callgate::net {

// A spawned task, linked into its reactor until it ends.
struct Root {
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;
};

class Reactor {
 public:
  using Executor = boost::asio::io_context::executor_type;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
  using Signals = boost::asio::basic_signal_set<Executor>;

  Reactor();
  ~Reactor();

  boost::asio::io_context& context() { return context_; }
  std::uint64_t ticks() const;
  void arm(Deadline& deadline, Millis delay);
  void defer(Deadline& deadline);
  void report(std::string_view what);

 private:
  friend class Loop;
  friend struct Root::promise_type;

  void schedule();
  void tick();
  void wait_signal(Signals& signals, std::shared_ptr<std::function<void()>> callback);

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<Executor> work_;
  TimerWheel wheel_;
  DeadlineList deferred_;
  Timer timer_;
  std::optional<std::uint64_t> scheduled_;
  std::vector<std::unique_ptr<Signals>> signals_;
  std::unique_ptr<std::array<char, 64 * 1024>> buffer_;
  std::function<void(std::string_view)> log_;
  Root::promise_type* roots_ = nullptr;
};

}  // namespace callgate::net
