#include "access/address_limits.h"

#include <algorithm>

#include "net/ip_literal.h"

namespace callgate::server {
namespace {

// After so long the whole burst of an address is there again: nothing is lost when it is forgotten.
constexpr std::chrono::minutes kBurstIsBack{1};

// A name that no key has: keys of the store cannot begin so.
std::string name_of_address(std::string_view address) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto ip = net::parse_ip(address);
  if (!ip || net::is_ipv4(*ip)) return "@" + std::string(address);
  std::string name = "@";
  for (std::size_t i = 0; i < 8; ++i) {
    const auto byte = static_cast<unsigned char>((*ip)[i]);
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

}  // namespace

void AddressLimits::set_limits(std::int64_t requests_per_minute, std::int64_t streams) {
  const std::lock_guard lock(mutex_);
  if (requests_per_minute == requests_per_minute_ && streams == streams_) return;
  requests_per_minute_ = requests_per_minute;
  streams_ = streams;
  on_ = requests_per_minute > 0 || streams > 0;
  by_name_.clear();  // what runs holds its own
}

KeyRef AddressLimits::find(std::string_view address, Time now) {
  const std::lock_guard lock(mutex_);
  if (!on()) return nullptr;
  std::string name = name_of_address(address);
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    make_room(now);
    KeyConfig config;
    config.name = name;
    config.requests_per_minute = requests_per_minute_;
    auto key = std::make_shared<KeyState>(config);
    key->streams.set_limit(streams_);
    found = by_name_.emplace(std::move(name), Place{std::move(key), now}).first;
  }
  found->second.used = now;
  return found->second.key;
}

void AddressLimits::make_room(Time now) {
  if (by_name_.size() < places_) return;
  std::erase_if(by_name_, [&](const auto& entry) {
    return entry.second.key->streams.running() == 0 && now - entry.second.used > kBurstIsBack;
  });
  if (by_name_.size() < places_) return;
  by_name_.erase(
      std::min_element(by_name_.begin(), by_name_.end(),
                       [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
}

std::vector<std::shared_ptr<KeyState>> AddressLimits::keys() const {
  std::vector<std::shared_ptr<KeyState>> keys;
  const std::lock_guard lock(mutex_);
  if (requests_per_minute_ <= 0) return keys;
  for (const auto& [name, place] : by_name_) keys.push_back(place.key);
  return keys;
}

std::size_t AddressLimits::size() const {
  const std::lock_guard lock(mutex_);
  return by_name_.size();
}

}  // namespace callgate::server
