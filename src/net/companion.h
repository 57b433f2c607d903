// Tasks that others depend on: one that runs beside its owner, and one that others wait for.
//
//   const Companion watch(loop, watch_client());
//   loop.spawn(watched(start(), [this] { open_gate(); }));
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

#include "net/loop.h"
#include "net/task.h"

namespace callgate::net {

// It starts at once, and is destroyed with the owner where it waits.
class Companion {
 public:
  // Loop thread only. What the task throws goes to the loop's fault log.
  Companion(Loop& loop, Task<> task) : root_(run(*this, loop, std::move(task))) {}
  ~Companion() {
    if (root_.handle) root_.handle.destroy();
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  bool done() const { return done_; }

 private:
  struct Root {
    struct promise_type {
      Root get_return_object() {
        return {std::coroutine_handle<promise_type>::from_promise(*this)};
      }
      std::suspend_never initial_suspend() noexcept { return {}; }
      std::suspend_always final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
  };

  static Root run(Companion& self, Loop& loop, Task<> task) {
    try {
      co_await task;
    } catch (const std::exception& thrown) {
      loop.report_fault(thrown.what());
    }
    self.done_ = true;
  }

  bool done_ = false;  // before the task: it may end at once
  Root root_;
};

// Runs `task`. If it throws, calls `on_fault`, which must end the wait of everybody, and throws the same for the loop's fault log.
inline Task<> watched(Task<> task, std::function<void()> on_fault) {
  std::exception_ptr thrown;
  try {
    co_await std::move(task);
    co_return;
  } catch (...) {
    thrown = std::current_exception();
  }
  on_fault();
  std::rethrow_exception(thrown);
}

}  // namespace callgate::net
