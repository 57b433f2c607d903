// Runs one piece of work on a thread of its own, whenever somebody asks for it.
//
//   BackgroundWork reloads([&] { reload(); });
//   reloads.request();  // returns at once
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace callgate::server {

class BackgroundWork {
 public:
  // REQUIRES: `work` does not throw.
  explicit BackgroundWork(std::function<void()> work);
  // Waits for a run that has begun; what was asked for and has not begun is forgotten.
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // Any thread. There is one run at a time: requests during a run lead to one more run after it.
  void request();

 private:
  void run();

  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool wanted_ = false;
  bool ending_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace callgate::server
