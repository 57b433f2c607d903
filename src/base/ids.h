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
  // Likewise, but the first eight characters are the time: ids sort by it, so rows under them are
  // appended to an index rather than scattered over it.
  std::string mint_timed(std::string_view prefix, std::int64_t unix_ms, std::size_t length = 24);

 private:
  void fill(char* digits, std::size_t length);

  std::uint64_t state_;
};

}  // namespace callgate
