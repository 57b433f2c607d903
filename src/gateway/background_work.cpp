#include "gateway/background_work.h"

#include <utility>

namespace callgate::server {

BackgroundWork::BackgroundWork(std::function<void()> work)
    : work_(std::move(work)), thread_([this] { run(); }) {}

BackgroundWork::~BackgroundWork() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void BackgroundWork::request() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  wake_.notify_one();
}

void BackgroundWork::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return wanted_ || ending_; });
    if (ending_) return;
    wanted_ = false;
    lock.unlock();
    work_();
    lock.lock();
  }
}

}  // namespace callgate::server
