// A set of bytes, and the search for the first of them: 32 bytes at a time where the machine can.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace callgate {

class ByteClass {
 public:
  void add(char byte);

  // The offset of the first byte from `at` on that is in the set, or the size of the text. REQUIRES: at <= text.size()
  std::size_t find(std::string_view text, std::size_t at) const {
    if (text.size() - at >= kBlock) at = find_in_blocks(text, at);
    while (at < text.size() && !contains(text[at])) ++at;
    return at;
  }
  bool contains(char byte) const { return bytes_[static_cast<unsigned char>(byte)]; }

 private:
  static constexpr std::size_t kBlock = 32;
  // ...or where less than a block is left.
  std::size_t find_in_blocks(std::string_view text, std::size_t at) const;

  std::array<bool, 256> bytes_{};
  // By the low half of a byte: a bit for each high half that it is in the set with. Twice, as the machine looks them up.
  alignas(32) std::array<std::uint8_t, 32> ascii_{};
  alignas(32) std::array<std::uint8_t, 32> others_{};
};

}  // namespace callgate
