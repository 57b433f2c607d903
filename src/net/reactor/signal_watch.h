// SignalWatch: calls back on a loop after a signal. The handler only sets a mark and writes to the loop's eventfd.
#pragma once

#include <cstddef>
#include <functional>

namespace callgate::net {

class SignalWatch {
 public:
  // `wake` is an eventfd that outlives this. REQUIRES: fewer than 64 watches in the process.
  SignalWatch(int number, int wake, std::function<void()> callback);
  // The signal does what it does by default once nobody watches for it.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Calls back if the signal came since the last time.
  void run();

 private:
  const int number_;
  const std::size_t slot_;
  std::function<void()> callback_;
};

}  // namespace callgate::net
