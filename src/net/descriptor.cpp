#include "net/descriptor.h"

#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <utility>

#include "base/check.h"
#include "net/reactor.h"

namespace callgate::net {

namespace asio = boost::asio;

// Lives until its Descriptor and every outstanding wait of the reactor are gone.
struct Descriptor::Core {
  using Socket = asio::posix::basic_stream_descriptor<Reactor::Executor>;

  struct Side {
    Wait* waiter = nullptr;
    bool armed = false;  // the reactor watches for us
    bool ready = false;  // it became ready while nobody waited
  };

  Core(Loop& owner, int fd) : loop(owner), socket(owner.reactor().context(), fd) {}

  Side& side(Direction direction) { return sides[static_cast<std::size_t>(direction)]; }

  // Holds the core for one outstanding wait, also when the reactor drops it unfired.
  class Hold {
   public:
    explicit Hold(Core& core) : core_(&core) { ++core.holds; }
    Hold(Hold&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if (core_ != nullptr) core_->release();
    }
    Core& operator*() const { return *core_; }

   private:
    Core* core_;
  };

  void release() {
    if (--holds == 0) delete this;
  }

  void arm(Direction direction) {
    Side& armed_side = side(direction);
    if (armed_side.armed) return;
    armed_side.armed = true;
    const auto type = direction == Direction::read ? Socket::wait_read : Socket::wait_write;
    socket.async_wait(type, [hold = Hold(*this), direction](const boost::system::error_code&) {
      (*hold).fired(direction);
    });
  }

  void fired(Direction direction) {
    Side& fired_side = side(direction);
    fired_side.armed = false;
    if (fired_side.waiter != nullptr) {
      wake(*fired_side.waiter, closed ? Ready::closed : Ready::yes);
    } else if (closed) {
      return;
    } else if (direction == Direction::read && watcher != nullptr) {
      std::exchange(watcher, nullptr)(watcher_context);
    } else {
      fired_side.ready = true;
    }
  }

  void wake(Wait& wait, Ready result) {
    side(wait.direction_).waiter = nullptr;
    wait.deadline_.disarm();
    wait.result_ = result;
    wait.coroutine_.resume();
  }

  Loop& loop;
  Socket socket;
  std::array<Side, 2> sides;
  Callback watcher = nullptr;
  void* watcher_context = nullptr;
  int holds = 1;
  bool closed = false;
};

Descriptor::Descriptor(Loop& loop, int fd) : core_(new Core(loop, fd)) {}

Descriptor::~Descriptor() {
  close();
  core_->release();
}

int Descriptor::fd() const { return core_->socket.native_handle(); }

bool Descriptor::closed() const { return core_->closed; }

void Descriptor::close() {
  if (core_->closed) return;
  core_->closed = true;
  core_->watcher = nullptr;
  boost::system::error_code ignored;
  core_->socket.close(ignored);
}

Descriptor::Wait Descriptor::wait(Direction direction, Millis timeout) {
  return Wait(*core_, direction, timeout);
}

void Descriptor::watch(Callback callback, void* context) {
  core_->watcher = callback;
  core_->watcher_context = context;
  Core::Side& side = core_->side(Direction::read);
  side.ready = false;  // arming reports it again
  if (!core_->closed) core_->arm(Direction::read);
}

void Descriptor::unwatch() { core_->watcher = nullptr; }

Descriptor::Wait::~Wait() {
  Core::Side& side = core_.side(direction_);
  if (side.waiter == this) side.waiter = nullptr;
}

bool Descriptor::Wait::await_ready() {
  if (core_.closed) {
    result_ = Ready::closed;
    return true;
  }
  return std::exchange(core_.side(direction_).ready, false);
}

void Descriptor::Wait::await_suspend(std::coroutine_handle<> waiter) {
  Core::Side& side = core_.side(direction_);
  CALLGATE_CHECK(side.waiter == nullptr);
  coroutine_ = waiter;
  side.waiter = this;
  core_.arm(direction_);
  if (timeout_ == kNever) return;
  deadline_.on_expiry(
      [](void* self) {
        auto& wait = *static_cast<Wait*>(self);
        wait.core_.wake(wait, Ready::timed_out);
      },
      this);
  core_.loop.arm(deadline_, timeout_);
}

}  // namespace callgate::net
