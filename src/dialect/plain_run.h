// The bytes that most pushes of a streamed value are made of: such a push leaves as it is.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace callgate::dialect {

inline constexpr std::size_t kShortPush = 32;  // beyond it the searches for single bytes are faster

// Not to be escaped in JSON, of ASCII, and of no use to begin a marker or to end a literal.
inline constexpr std::array<bool, 256> kPlainBytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) {
    plain[c] = std::string_view("\"'\\<]}").find(static_cast<char>(c)) == std::string_view::npos;
  }
  return plain;
}();

inline bool is_plain_push(std::string_view bytes) {
  if (bytes.size() > kShortPush) return false;
  bool plain = true;
  for (const char c : bytes) plain &= kPlainBytes[static_cast<unsigned char>(c)];
  return plain;
}

}  // namespace callgate::dialect
