// A task that runs beside its owner: it starts at once, and is destroyed with the owner where it waits.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "net/loop.h"
#include "net/task.h"

namespace callgate::net {

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

}  // namespace callgate::net
