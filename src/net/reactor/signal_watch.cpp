#include "net/reactor/signal_watch.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/check.h"

namespace callgate::net {
namespace {

struct Slot {
  std::atomic<int> number = 0;  // 0: free
  std::atomic<int> wake = -1;
  std::atomic<bool> came = false;
};

// A handler is told the number alone and runs on any thread at any moment: what it looks up cannot belong to an object.
constinit std::array<Slot, 64> slots;
constinit std::mutex slots_mutex;  // of those who take and free slots

void note(int number) {
  const int error = errno;
  for (Slot& slot : slots) {
    if (slot.number.load() != number) continue;
    slot.came.store(true);
    const std::uint64_t one = 1;
    const ssize_t written = ::write(slot.wake.load(), &one, sizeof(one));
    static_cast<void>(written);
  }
  errno = error;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigfillset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

std::size_t take_slot(int number, int wake) {
  const std::lock_guard lock(slots_mutex);
  const auto free = std::find_if(slots.begin(), slots.end(),
                                 [](const Slot& slot) { return slot.number.load() == 0; });
  CALLGATE_CHECK(free != slots.end());
  free->wake.store(wake);
  free->came.store(false);
  free->number.store(number);
  handle(number, note);
  return static_cast<std::size_t>(free - slots.begin());
}

}  // namespace

SignalWatch::SignalWatch(int number, int wake, std::function<void()> callback)
    : number_(number), slot_(take_slot(number, wake)), callback_(std::move(callback)) {}

SignalWatch::~SignalWatch() {
  const std::lock_guard lock(slots_mutex);
  slots[slot_].number.store(0);
  const bool watched = std::any_of(slots.begin(), slots.end(), [this](const Slot& slot) {
    return slot.number.load() == number_;
  });
  if (!watched) handle(number_, SIG_DFL);
}

void SignalWatch::run() {
  if (slots[slot_].came.exchange(false)) callback_();
}

}  // namespace callgate::net
