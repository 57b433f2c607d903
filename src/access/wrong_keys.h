// WrongKeys: slows down addresses that try keys. A fixed table: any number of addresses costs the same memory.
//
//   const std::uint64_t who = wrong_keys.identity("192.0.2.7");
//   if (wrong_keys.wait(who, now) > 0ns) refuse();
//   else if (!known) wrong_keys.count(who, now);
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"

namespace callgate::server {

class WrongKeys {
 public:
  using Time = std::chrono::nanoseconds;  // of a clock that only goes forward

  explicit WrongKeys(std::size_t places = 4096);

  // So many are tried at once, then as many within a minute; 0: no limit.
  void set_limit(std::int64_t per_minute);

  // Which address that is, never 0. Those of one IPv6 network of 64 bits count as one.
  std::uint64_t identity(std::string_view address) const;
  // How long until the address may try another key; 0: now.
  Time wait(std::uint64_t address, Time now) const;
  void count(std::uint64_t address, Time now);

 private:
  // An address may be in each of these; the one that has waited longest makes room.
  static constexpr std::size_t kWays = 4;
  struct Place {
    std::uint64_t address = 0;
    Time settled{0};  // when nothing of its tries is left to count
  };
  std::span<const Place> row(std::uint64_t address) const;

  const HashKey seed_;  // nobody can choose addresses that push others out
  mutable std::mutex mutex_;
  std::int64_t per_minute_ = 0;
  std::vector<Place> places_;
};

// The last addresses that a key was used from. From there it is let in while others are slowed down.
class KnownAddresses {
 public:
  bool contains(std::uint64_t address) const;
  void add(std::uint64_t address);

 private:
  std::array<std::atomic<std::uint64_t>, 8> addresses_{};
  std::atomic<std::size_t> next_{0};
};

}  // namespace callgate::server
