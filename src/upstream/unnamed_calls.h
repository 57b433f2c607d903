// Ids for calls of the history that have none. A result without an id answers the first call without one.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace callgate::upstream {

class UnnamedCalls {
 public:
  std::string name_call() {
    waiting_.push_back("call_" + std::to_string(++made_));
    return waiting_.back();
  }
  // Empty when none waits for its result.
  std::string answered() {
    if (waiting_.empty()) return {};
    std::string id = std::move(waiting_.front());
    waiting_.pop_front();
    return id;
  }

 private:
  std::deque<std::string> waiting_;
  std::size_t made_ = 0;
};

}  // namespace callgate::upstream
