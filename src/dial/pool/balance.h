// Which of several upstreams of one priority gets a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace callgate::server {

enum class Balance : std::uint8_t {
  round_robin,      // by weight
  least_in_flight,  // the upstream with the fewest requests, by weight
  fastest,          // the upstream that begins its answers soonest, on average
  sticky,           // what belongs together goes to the same one
};
// Of the configuration's words. session, key and prefix are sticky.
Balance balance_of(std::string_view word);

struct Candidate {
  std::size_t place = 0;
  std::int64_t weight = 1;
  std::int64_t in_flight = 0;
  std::optional<double> first_token;  // milliseconds, on average; nothing: not known
  std::uint64_t name = 0;             // hash_of() its name
};

// Whose turn it is: smooth weighted round robin. Not safe for threads.
class Rotation {
 public:
  // One of the candidates, as its position among them. REQUIRES: candidates are not empty, and their places < places.
  std::size_t take(std::span<const Candidate> candidates, std::size_t places);

 private:
  std::vector<std::int64_t> current_;
};

// The same for the same name, in every gateway.
std::uint64_t hash_of(std::string_view text);

// The position of the one that gets the request. `affinity`: what belongs together has the same; 0: it belongs to nothing.
// REQUIRES: as for Rotation::take().
std::size_t choose(Balance balance, std::span<const Candidate> candidates, std::uint64_t affinity,
                   Rotation& rotation, std::size_t places, std::uint64_t random);

}  // namespace callgate::server
