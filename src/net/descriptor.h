// Descriptor: a non-blocking socket on a loop, and waiting until it can be read or written. The kernel reports edges: what has been
// reported and not been read is not reported again, so readers read until there is no more, and say so with drained().
#pragma once

#include <array>
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
  Descriptor(Loop& loop, int fd) : loop_(loop), fd_(fd) {}
  // Waits end as with close().
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // -1 once closed.
  int fd() const { return fd_; }
  bool closed() const { return fd_ < 0; }
  // Ends waits with `closed`, from the loop, never inside close().
  void close();

  // False: a read would find nothing. Waiting for Direction::read, or watch(), makes it true.
  bool readable() const { return readable_; }
  // A read found no more, or less than it asked for. Keeps readable() true when the end of the stream is there to be read.
  void drained() { readable_ = ended_; }

  class Wait;
  // co_await descriptor.wait(Direction::read, 5s). One waiter per direction. To read it waits until readable(); to write, until
  // there is room. REQUIRES: the last try to write found none.
  Wait wait(Direction direction, Millis timeout);

  // Calls back, from the loop, when the socket becomes or is readable() (or breaks) while nobody waits to read.
  // Once per call of watch().
  void watch(Callback callback, void* context);
  void unwatch() { watcher_ = nullptr; }

 private:
  friend class Reactor;
  void became_readable(bool ended);
  void became_writable();
  void lose_interest();
  bool observe(std::uint32_t events);
  Wait*& waiter(Direction direction) { return waiters_[static_cast<std::size_t>(direction)]; }

  Loop& loop_;
  std::array<Wait*, 2> waiters_{};
  Callback watcher_ = nullptr;
  void* watcher_context_ = nullptr;
  int fd_;
  std::uint32_t events_ = 0;  // that are reported to us
  bool readable_ = false;
  bool ended_ = false;  // the peer closed its side or the connection broke
};

class Descriptor::Wait {
 public:
  Wait(Descriptor& descriptor, Direction direction, Millis timeout)
      : descriptor_(&descriptor), direction_(direction), timeout_(timeout) {}
  ~Wait() { leave(); }
  bool await_ready();
  bool await_suspend(std::coroutine_handle<> waiter);
  Ready await_resume() const { return result_; }

 private:
  friend class Descriptor;
  void leave();
  void wake(Ready result);

  Descriptor* descriptor_;  // until it is closed
  Direction direction_;
  Ready result_ = Ready::yes;
  Millis timeout_;
  Deadline deadline_;
  std::coroutine_handle<> coroutine_;
};

}  // namespace callgate::net
