#include "net/loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <ctime>

#include "base/check.h"
#include "net/reactor.h"

namespace callgate::net {

namespace asio = boost::asio;

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

// Only the owner's thread touches sockets, so the reactor needs no locks; posting stays locked.
Reactor::Reactor()
    : context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      work_(asio::make_work_guard(context_)),
      timer_(context_.get_executor()) {}

Reactor::~Reactor() {
  while (roots_ != nullptr) Root::Handle::from_promise(*roots_).destroy();
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
  if (!scheduled_ || tick < *scheduled_) schedule();
}

void Reactor::schedule() {
  const std::optional<std::uint64_t> next = wheel_.next_tick();
  if (next == scheduled_) return;
  scheduled_ = next;
  if (!next) return;
  const std::uint64_t now = ticks();
  timer_.expires_after(Millis(*next > now ? *next - now : 0));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

void Reactor::tick() {
  scheduled_.reset();
  wheel_.advance(ticks());
  schedule();
}

void Reactor::defer(Deadline& deadline) {
  const bool first = deferred_.empty();
  deferred_.add(deadline);
  if (first) asio::post(context_, [this] { deferred_.run(); });
}

void Reactor::report(std::string_view what) {
  if (log_) log_(what);
}

// A peer that is gone and a file that may not grow are errors of one write, not ends of the process.
Loop::Loop() : reactor_(std::make_unique<Reactor>()) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Loop::~Loop() = default;

void Loop::run() {
  asio::io_context& context = reactor_->context();
  while (!context.stopped()) {
    try {
      context.run();
    } catch (const std::exception& error) {
      reactor_->report(error.what());
    } catch (...) {
      reactor_->report("an event threw something that is no exception");
    }
  }
  // Only now: a stop() that came before run() counts.
  context.restart();
}

void Loop::stop() { reactor_->context().stop(); }

void Loop::post(std::function<void()> work) { asio::post(reactor_->context(), std::move(work)); }

void Loop::spawn(Task<> task) { run_root(*reactor_, std::move(task)); }

void Loop::set_fault_log(std::function<void(std::string_view)> log) {
  reactor_->log_ = std::move(log);
}

void Loop::report_fault(std::string_view what) { reactor_->report(what); }

void Loop::on_signal(int number, std::function<void()> callback) {
  auto signals = std::make_unique<Reactor::Signals>(reactor_->context().get_executor(), number);
  reactor_->signals_.push_back(std::move(signals));
  reactor_->wait_signal(*reactor_->signals_.back(),
                        std::make_shared<std::function<void()>>(std::move(callback)));
}

void Reactor::wait_signal(Signals& signals, std::shared_ptr<std::function<void()>> callback) {
  signals.async_wait([this, &signals, callback](const boost::system::error_code& error, int) {
    if (error) return;
    wait_signal(signals, callback);
    (*callback)();
  });
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
