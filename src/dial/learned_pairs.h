// Pairs of an upstream and a model of which something was learned while a configuration is in force. Any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace callgate::server {

class LearnedPairs {
 public:
  bool has(std::string_view upstream, std::string_view model) const {
    if (!any_.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(mutex_);
    return known_.contains({std::string(upstream), std::string(model)});
  }
  // False: it was known.
  bool add(std::string_view upstream, std::string_view model) {
    const std::lock_guard lock(mutex_);
    any_.store(true, std::memory_order_release);
    return known_.emplace(upstream, model).second;
  }

 private:
  std::atomic<bool> any_{false};  // most gateways never learn of one: no lock for them
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> known_;
};

}  // namespace callgate::server
