// Ids that callgate mints. The same seed gives the same ids in the same order: no clock, no global.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace callgate {

class IdMint {
 public:
  explicit IdMint(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  // `prefix` followed by `length` random characters of [A-Za-z0-9].
  std::string mint(std::string_view prefix, std::size_t length = 24);

 private:
  std::uint64_t state_;
};

}  // namespace callgate
