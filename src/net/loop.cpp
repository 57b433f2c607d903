#include "net/loop.h"

#include <csignal>

#include "base/check.h"
#include "net/reactor/reactor.h"

namespace callgate::net {

struct Root::promise_type {
  Reactor* reactor;
  promise_type* next = nullptr;
  promise_type* previous = nullptr;

  promise_type(Reactor& owner, Task<>&) : reactor(&owner), next(owner.roots_) {
    if (next != nullptr) next->previous = this;
    owner.roots_ = this;
  }
  ~promise_type() {
    if (next != nullptr) next->previous = previous;
    (previous != nullptr ? previous->next : reactor->roots_) = next;
  }
  static void* operator new(std::size_t size) { return detail::allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) { detail::free_frame(frame, size); }

  Root get_return_object() { return {}; }
  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }
  void return_void() {}
  void unhandled_exception() noexcept {
    try {
      throw;
    } catch (const std::exception& error) {
      reactor->report(error.what());
    } catch (...) {
      reactor->report("a task threw something that is no exception");
    }
  }
};

namespace {

Root run_root(Reactor&, Task<> task) { co_await std::move(task); }

}  // namespace

Reactor::~Reactor() {
  while (roots_ != nullptr) Root::Handle::from_promise(*roots_).destroy();
}

// A peer that is gone and a file that may not grow are errors of one write, not ends of the process.
Loop::Loop() : reactor_(std::make_unique<Reactor>()) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Loop::~Loop() = default;

void Loop::run() { reactor_->run(); }

void Loop::stop() { reactor_->stop(); }

void Loop::post(std::function<void()> work) { reactor_->post(std::move(work)); }

void Loop::spawn(Task<> task) { run_root(*reactor_, std::move(task)); }

void Loop::set_fault_log(std::function<void(std::string_view)> log) {
  reactor_->log_ = std::move(log);
}

void Loop::report_fault(std::string_view what) { reactor_->report(what); }

void Loop::on_signal(int number, std::function<void()> callback) {
  reactor_->signals_.push_back(
      std::make_unique<SignalWatch>(number, reactor_->wake_.get(), std::move(callback)));
}

std::uint64_t Loop::now() const { return reactor_->ticks(); }

Loop::Sleep Loop::sleep(Millis duration) { return Sleep(*this, duration); }

void Loop::arm(Deadline& deadline, Millis delay) { reactor_->arm(deadline, delay); }

void Loop::defer(Deadline& deadline) { reactor_->defer(deadline); }

std::span<char> Loop::read_buffer() {
  auto& buffer = reactor_->buffer_;
  if (!buffer) buffer = std::make_unique<std::array<char, 64 * 1024>>();
  return *buffer;
}

void Loop::Sleep::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  deadline_.on_expiry([](void* self) { static_cast<Sleep*>(self)->waiter_.resume(); }, this);
  if (duration_ == Millis(0)) return loop_.defer(deadline_);
  loop_.arm(deadline_, duration_);
}

void Signal::notify() {
  notified_ = true;
  if (waiter_ != nullptr) loop_.defer(waiter_->deadline_);
}

Signal::Wait Signal::wait(Millis timeout) { return Wait(*this, timeout); }

Signal::Wait::~Wait() {
  if (signal_.waiter_ == this) signal_.waiter_ = nullptr;
}

bool Signal::Wait::await_ready() { return signal_.notified_; }

void Signal::Wait::await_suspend(std::coroutine_handle<> waiter) {
  CALLGATE_CHECK(signal_.waiter_ == nullptr);
  signal_.waiter_ = this;
  coroutine_ = waiter;
  deadline_.on_expiry([](void* self) { static_cast<Wait*>(self)->wake(); }, this);
  if (timeout_ != kNever) signal_.loop_.arm(deadline_, timeout_);
}

void Signal::Wait::wake() {
  signal_.waiter_ = nullptr;
  coroutine_.resume();
}

bool Signal::Wait::await_resume() { return std::exchange(signal_.notified_, false); }

LoopGroup::LoopGroup(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) loops_.push_back(std::make_unique<Loop>());
}

LoopGroup::~LoopGroup() {
  stop();
  join();
}

void LoopGroup::start() {
  for (auto& loop : loops_) threads_.emplace_back([&loop] { loop->run(); });
}

void LoopGroup::stop() {
  for (auto& loop : loops_) loop->stop();
}

void LoopGroup::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace callgate::net
