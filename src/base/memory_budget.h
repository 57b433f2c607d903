// MemoryBudget: how much memory all requests of a process may hold together. What grows with what others
// send is reserved first. From any thread; nothing waits.
//
//   Reservation body(&budget, MemoryUse::need);
//   if (!body.resize(text.size() + more.size())) refuse();
//
// When memory gets short, copies go first (of what is only logged or recorded), then what is large, and small things last: a
// request of a few kilobytes is served while those of megabytes are refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "callgate/error.h"

namespace callgate {

enum class MemoryUse : std::uint8_t {
  need,  // without it a request fails
  copy,  // of something that the request does without
};

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit = 0) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // 0: no limit. What is held stays held.
  void set_limit(std::uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  // How often there was none left.
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  std::uint64_t shed() const { return shed_.load(std::memory_order_relaxed); }

  // `more` bytes for something that has `held` of them.
  bool take(std::uint64_t more, std::uint64_t held, MemoryUse use) {
    const std::uint64_t before = used_.fetch_add(more, std::memory_order_relaxed);
    const std::uint64_t most = ceiling(held + more, use);
    if (most == 0 || before + more <= most) return true;
    used_.fetch_sub(more, std::memory_order_relaxed);
    (use == MemoryUse::copy ? shed_ : refused_).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kLarge = 1 << 20;

  std::uint64_t ceiling(std::uint64_t size, MemoryUse use) const {
    const std::uint64_t limit = this->limit();
    if (use == MemoryUse::copy) return limit / 8 * 5;
    return size > kLarge ? limit / 8 * 7 : limit;
  }

  std::atomic<std::uint64_t> limit_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> shed_{0};
};

inline constexpr std::string_view kOutOfMemory = "gateway_out_of_memory";

// The answer to a request that does not get what it needs.
inline Error out_of_memory() {
  return {.code = ErrorCode::unavailable,
          .message = "the gateway has no memory for this request now, try again later",
          .upstream_code = std::string(kOutOfMemory),
          .status = 503,
          .retry_after = "1"};
}

// What one thing holds. Gives it back when it goes.
class Reservation {
 public:
  Reservation() = default;  // of no budget: everything fits
  // REQUIRES: the budget, which may be nullptr, outlives it.
  Reservation(MemoryBudget* budget, MemoryUse use) : budget_(budget), use_(use) {}
  Reservation(Reservation&& other) noexcept
      : budget_(other.budget_), use_(other.use_), bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(use_, other.use_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Reservation() { release(); }

  std::uint64_t bytes() const { return bytes_; }
  // False: there is not so much, and it holds what it held. To shrink always works.
  bool resize(std::uint64_t bytes) {
    if (budget_ != nullptr && bytes > bytes_) {
      if (!budget_->take(bytes - bytes_, bytes_, use_)) return false;
    } else if (budget_ != nullptr) {
      budget_->give_back(bytes_ - bytes);
    }
    bytes_ = bytes;
    return true;
  }
  // The same in steps, for what grows by a little very often.
  bool grow_to(std::uint64_t bytes) {
    constexpr std::uint64_t kStep = 16 << 10;
    return bytes <= bytes_ || resize((bytes + kStep - 1) / kStep * kStep);
  }
  // As grow_to(), and gives back what is not needed any more.
  bool fit(std::uint64_t bytes) {
    if (bytes < bytes_ / 2) return resize(bytes);
    return grow_to(bytes);
  }
  void release() { resize(0); }

 private:
  MemoryBudget* budget_ = nullptr;
  MemoryUse use_ = MemoryUse::need;
  std::uint64_t bytes_ = 0;
};

}  // namespace callgate
