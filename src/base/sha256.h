// SHA-256 (FIPS 180-4), for names that nobody can make collide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace callgate {

class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  Sha256& push(std::string_view bytes);
  // The size first, so that fields in a row cannot be taken for others.
  Sha256& push_field(std::string_view bytes);
  // Once.
  Digest finish();

 private:
  void mix(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t size_ = 0;
};

}  // namespace callgate
