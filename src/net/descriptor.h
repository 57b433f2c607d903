// Descriptor: a non-blocking socket on a loop, and waiting until it can be read or written.
#pragma once

#include <cerrno>
#include <coroutine>
#include <cstdint>

#include "net/loop.h"
#include "net/timer_wheel.h"

namespace callgate::net {

inline bool is_again(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

enum class Ready : std::uint8_t { yes, timed_out, closed };
enum class Direction : std::uint8_t { read, write };

class Descriptor {
 public:
  using Callback = void (*)(void* context);

  // Takes ownership of `fd`, which is non-blocking.
  Descriptor(Loop& loop, int fd);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int fd() const;
  bool closed() const;
  // Ends waits with `closed`, from the loop, never inside close().
  void close();

  class Wait;
  // co_await descriptor.wait(Direction::read, 5s). One waiter per direction.
  Wait wait(Direction direction, Millis timeout);

  // Calls back, from the loop, when the socket becomes readable (or breaks) while nobody waits to
  // read. Once per call of watch().
  void watch(Callback callback, void* context);
  void unwatch();

 private:
  struct Core;
  Core* core_;  // shared with the reactor's outstanding waits, hence not a unique_ptr
};

class Descriptor::Wait {
 public:
  Wait(Core& core, Direction direction, Millis timeout)
      : core_(core), direction_(direction), timeout_(timeout) {}
  ~Wait();
  bool await_ready();
  void await_suspend(std::coroutine_handle<> waiter);
  Ready await_resume() const { return result_; }

 private:
  friend struct Descriptor::Core;
  Core& core_;
  Direction direction_;
  Millis timeout_;
  Ready result_ = Ready::yes;
  Deadline deadline_;
  std::coroutine_handle<> coroutine_;
};

}  // namespace callgate::net
