// Task<T>: a lazy coroutine. It starts when awaited and resumes its awaiter when it ends.
// A task runs on one loop thread only. Destroying a suspended task destroys all it awaits.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace callgate::net {

namespace detail {

// Coroutine frames are recycled per thread: a stream in steady state allocates nothing.
void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

struct PromiseCore {
  std::coroutine_handle<> awaiter;
  std::exception_ptr thrown;
  bool awaiter_suspended = false;
  bool done = false;

  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { thrown = std::current_exception(); }

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      PromiseCore& promise = self.promise();
      promise.done = true;
      // The frame may be gone once the awaiter runs: nothing is touched after this.
      if (promise.awaiter_suspended) promise.awaiter.resume();
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
};

template <class T>
struct Promise;

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }

  // Runs the task as a plain nested call. One that ends without waiting never suspends its awaiter,
  // so a loop over such tasks needs no stack, whatever the compiler does about tail calls.
  bool await_suspend(std::coroutine_handle<> awaiter) {
    promise_type& promise = handle_.promise();
    promise.awaiter = awaiter;
    handle_.resume();
    if (promise.done) return false;
    promise.awaiter_suspended = true;
    return true;
  }

  T await_resume() { return handle_.promise().take(); }

 private:
  Handle handle_;
};

namespace detail {

template <class T>
struct Promise : PromiseCore {
  std::optional<T> value;

  Task<T> get_return_object() {
    return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
  }
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseCore {
  Task<void> get_return_object() {
    return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
  }
  void return_void() {}
  void take() {
    if (thrown) std::rethrow_exception(thrown);
  }
};

}  // namespace detail

}  // namespace callgate::net
