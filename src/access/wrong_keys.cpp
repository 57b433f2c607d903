#include "access/wrong_keys.h"

#include <algorithm>
#include <random>

#include "net/ip_literal.h"

namespace callgate::server {
namespace {

constexpr WrongKeys::Time kWindow = std::chrono::minutes(1);

HashKey random_hash_key() {
  std::random_device device;
  const auto word = [&device] { return (std::uint64_t{device()} << 32) | device(); };
  return {.first = word(), .second = word()};
}

}  // namespace

WrongKeys::WrongKeys(std::size_t places)
    : seed_(random_hash_key()), places_(std::max(places / kWays, std::size_t{1}) * kWays) {}

void WrongKeys::set_limit(std::int64_t per_minute) {
  const std::lock_guard lock(mutex_);
  per_minute_ = per_minute;
}

std::uint64_t WrongKeys::identity(std::string_view address) const {
  std::string_view network = address;
  const auto ip = net::parse_ip(address);
  if (ip) network = {reinterpret_cast<const char*>(ip->data()), net::is_ipv4(*ip) ? 16u : 8u};
  return std::max<std::uint64_t>(1, keyed_hash(seed_, network));
}

std::span<const WrongKeys::Place> WrongKeys::row(std::uint64_t address) const {
  const std::size_t first = address % (places_.size() / kWays) * kWays;
  return std::span(places_).subspan(first, kWays);
}

WrongKeys::Time WrongKeys::wait(std::uint64_t address, Time now) const {
  const std::lock_guard lock(mutex_);
  if (per_minute_ <= 0) return Time(0);
  const Time cost = kWindow / per_minute_;
  for (const Place& place : row(address)) {
    if (place.address != address) continue;
    return std::max(Time(0), place.settled + cost - now - kWindow);
  }
  return Time(0);
}

void WrongKeys::count(std::uint64_t address, Time now) {
  const std::lock_guard lock(mutex_);
  if (per_minute_ <= 0) return;
  const std::size_t first = static_cast<std::size_t>(row(address).data() - places_.data());
  const std::span<Place> places = std::span(places_).subspan(first, kWays);
  auto place = std::find_if(places.begin(), places.end(),
                            [&](const Place& each) { return each.address == address; });
  if (place == places.end()) {
    place = std::min_element(places.begin(), places.end(),
                             [](const Place& a, const Place& b) { return a.settled < b.settled; });
    *place = {.address = address, .settled = now};
  }
  place->settled = std::max(place->settled, now) + kWindow / per_minute_;
}

bool KnownAddresses::contains(std::uint64_t address) const {
  return std::any_of(addresses_.begin(), addresses_.end(), [&](const auto& known) {
    return known.load(std::memory_order_relaxed) == address;
  });
}

void KnownAddresses::add(std::uint64_t address) {
  const std::size_t place = next_.fetch_add(1, std::memory_order_relaxed) % addresses_.size();
  addresses_[place].store(address, std::memory_order_relaxed);
}

}  // namespace callgate::server
