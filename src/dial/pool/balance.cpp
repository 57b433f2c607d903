#include "dial/pool/balance.h"

#include <cmath>
#include <limits>

#include "base/keyed_hash.h"

namespace callgate::server {
namespace {

// One request in this many goes to another upstream than the fastest, to notice when the fastest changes.
constexpr std::uint64_t kLookAround = 20;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a ^ (b * 0x9e3779b97f4a7c15ull);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Rendezvous hashing: when an upstream goes, only what was its own moves.
std::size_t stick(std::span<const Candidate> candidates, std::uint64_t affinity) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t hash = mixed(affinity, candidates[i].name);
    const double part = (static_cast<double>(hash >> 11) + 0.5) / 9007199254740992.0;  // (0, 1)
    const double score = static_cast<double>(candidates[i].weight) / -std::log(part);
    if (score > most) {
      most = score;
      best = i;
    }
  }
  return best;
}

// Those with the least of a measure, and of these the one whose turn it is.
template <class Measure>
std::size_t least(std::span<const Candidate> candidates, Rotation& rotation, std::size_t places,
                  Measure measure) {
  double smallest = std::numeric_limits<double>::max();
  for (const Candidate& candidate : candidates) smallest = std::min(smallest, measure(candidate));
  std::vector<Candidate> equal;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (measure(candidates[i]) > smallest) continue;
    equal.push_back(candidates[i]);
    positions.push_back(i);
  }
  return positions[rotation.take(equal, places)];
}

}  // namespace

Balance balance_of(std::string_view word) {
  if (word == "least_in_flight") return Balance::least_in_flight;
  if (word == "fastest") return Balance::fastest;
  if (word == "session" || word == "key" || word == "prefix") return Balance::sticky;
  return Balance::round_robin;
}

std::size_t Rotation::take(std::span<const Candidate> candidates, std::size_t places) {
  if (current_.size() != places) current_.assign(places, 0);
  std::int64_t all = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    all += candidate.weight;
    current_[candidate.place] += candidate.weight;
    if (current_[candidate.place] > current_[candidates[best].place]) best = i;
  }
  current_[candidates[best].place] -= all;
  return best;
}

std::uint64_t hash_of(std::string_view text) {
  return keyed_hash({.first = 0x63616c6c67617465, .second = 0x706f6f6c}, text);
}

std::size_t choose(Balance balance, std::span<const Candidate> candidates, std::uint64_t affinity,
                   Rotation& rotation, std::size_t places, std::uint64_t random) {
  switch (balance) {
    case Balance::round_robin:
      break;
    case Balance::least_in_flight:
      return least(candidates, rotation, places, [](const Candidate& candidate) {
        return static_cast<double>(candidate.in_flight) / static_cast<double>(candidate.weight);
      });
    case Balance::fastest:
      if (random % kLookAround == 0) break;
      return least(candidates, rotation, places,
                   [](const Candidate& candidate) { return candidate.first_token.value_or(-1); });
    case Balance::sticky:
      if (affinity == 0) break;
      return stick(candidates, affinity);
  }
  return rotation.take(candidates, places);
}

}  // namespace callgate::server
