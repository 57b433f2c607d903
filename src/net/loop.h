// Loop: one event loop for one thread, with its timers and its borrowed read buffer.
// LoopGroup: one loop per thread. Loops share nothing; post() and stop() are the only calls that
// other threads may make.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "net/task.h"
#include "net/timer_wheel.h"

namespace callgate::net {

using Millis = std::chrono::milliseconds;

// No limit, wherever a Millis is a timeout.
inline constexpr Millis kNever{0};

class Reactor;

class Loop {
 public:
  // Ignores SIGPIPE for the process: a peer that leaves is an error code, never a signal.
  Loop();
  // Destroys the tasks that still wait. Sockets, servers and clients of the loop go before it.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs on the calling thread until stop(), also one that came before. May be called again.
  void run();
  // Any thread.
  void stop();
  // Any thread: runs `work` on the loop's thread, after the current event.
  void post(std::function<void()> work);

  // Starts a task and owns it until it ends. It runs at once, up to its first wait.
  // Loop thread only, or before run(). What it throws goes to the fault log.
  void spawn(Task<> task);

  // Receives what a task or posted work threw. Default: dropped.
  void set_fault_log(std::function<void(std::string_view)> log);
  void report_fault(std::string_view what);

  // Calls back on the loop for each such signal.
  void on_signal(int number, std::function<void()> callback);

  // Milliseconds of a steady clock.
  std::uint64_t now() const;

  class Sleep;
  // co_await loop.sleep(20ms): waits at least so long. Zero lets other work run first.
  Sleep sleep(Millis duration);

  // Arms `deadline` to fire after at least `delay`. It disarms itself when destroyed.
  void arm(Deadline& deadline, Millis delay);
  // Fires `deadline` from the loop as soon as the current event is done.
  void defer(Deadline& deadline);

  // 64 KiB shared by all streams of the loop: what is in it is lost when the holder next waits.
  std::span<char> read_buffer();

  // For the net room itself.
  Reactor& reactor() { return *reactor_; }

 private:
  std::unique_ptr<Reactor> reactor_;
};

class Loop::Sleep {
 public:
  Sleep(Loop& loop, Millis duration) : loop_(loop), duration_(duration) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter);
  void await_resume() const noexcept {}

 private:
  Loop& loop_;
  Millis duration_;
  Deadline deadline_;
  std::coroutine_handle<> waiter_;
};

// A wake-up call between tasks of one loop: notify() ends the wait of one waiter, now or later.
class Signal {
 public:
  explicit Signal(Loop& loop) : loop_(loop) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Loop thread only. Kept for the next wait when nobody waits. The waiter resumes from the loop,
  // never inside notify().
  void notify();

  class Wait;
  // co_await signal.wait(1s): true when notified, false when the time ran out. One waiter at a time.
  Wait wait(Millis timeout = kNever);

 private:
  Loop& loop_;
  bool notified_ = false;
  Wait* waiter_ = nullptr;
};

class Signal::Wait {
 public:
  Wait(Signal& signal, Millis timeout) : signal_(signal), timeout_(timeout) {}
  ~Wait();
  bool await_ready();
  void await_suspend(std::coroutine_handle<> waiter);
  bool await_resume();

 private:
  friend class Signal;
  void wake();

  Signal& signal_;
  Millis timeout_;
  Deadline deadline_;
  std::coroutine_handle<> coroutine_;
};

class LoopGroup {
 public:
  explicit LoopGroup(std::size_t count);
  // Stops and joins.
  ~LoopGroup();

  std::size_t size() const { return loops_.size(); }
  Loop& operator[](std::size_t index) { return *loops_[index]; }

  // Runs every loop on a thread of its own.
  void start();
  // Any thread: asks every loop to stop.
  void stop();
  // Waits for the threads. Not from a loop thread.
  void join();

 private:
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace callgate::net
