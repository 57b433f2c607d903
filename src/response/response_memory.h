// The responses that one connection remembers, stored or not: what was said up to the end of each. The oldest go first, also where
// the gateway has no memory for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory_budget.h"

namespace callgate::server {

class ResponseMemory {
 public:
  static constexpr std::size_t kMaxResponses = 32;
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  // REQUIRES: the budget outlives it.
  explicit ResponseMemory(MemoryBudget& budget) : memory_(&budget, MemoryUse::copy) {}

  // Valid until the next change; nullptr: it does not know the response.
  const std::string* find(std::string_view id) const {
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) { return each.id == id; });
    return found == kept_.end() ? nullptr : &found->items;
  }
  void add(std::string id, std::string items) {
    forget(id);
    bytes_ += items.size();
    kept_.push_back({std::move(id), std::move(items)});
    while (kept_.size() > kMaxResponses || (bytes_ > kMaxBytes && kept_.size() > 1)) drop_oldest();
    while (!memory_.fit(bytes_)) drop_oldest();
  }
  void forget(std::string_view id) {
    std::erase_if(kept_, [&](const Kept& each) {
      if (each.id != id) return false;
      bytes_ -= each.items.size();
      return true;
    });
  }

 private:
  struct Kept {
    std::string id;
    std::string items;
  };

  void drop_oldest() {
    bytes_ -= kept_.front().items.size();
    kept_.pop_front();
  }

  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
  Reservation memory_;
};

}  // namespace callgate::server
