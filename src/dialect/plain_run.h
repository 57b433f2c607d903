// The bytes that most pushes of a streamed value are made of: such a push leaves as it is.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/byte_class.h"

namespace callgate::dialect {

inline constexpr std::size_t kShortPush = 32;  // beyond it the searches for single bytes are faster

using ByteTable = std::array<bool, 256>;

consteval ByteTable printable_without(std::string_view others) {
  ByteTable table{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) {
    table[c] = others.find(static_cast<char>(c)) == std::string_view::npos;
  }
  return table;
}

// Not to be escaped in JSON, of ASCII, and of no use to begin a marker or to end a literal ...
inline constexpr ByteTable kPlainBytes = printable_without("\"'\\<]}");
// ... nor to end a marker or a list of arguments.
inline constexpr ByteTable kInnerBytes = printable_without("\"'\\<]}>|)");

inline bool is_short_push_of(const ByteTable& table, std::string_view bytes) {
  if (bytes.size() > kShortPush) return false;
  bool all = true;
  for (const char c : bytes) all &= table[static_cast<unsigned char>(c)];
  return all;
}

inline bool is_plain_push(std::string_view bytes) { return is_short_push_of(kPlainBytes, bytes); }

// Of inner bytes alone, whatever its size.
inline bool is_inner_push(std::string_view bytes) {
  if (bytes.size() <= kShortPush) return is_short_push_of(kInnerBytes, bytes);
  static const ByteClass kOthers = [] {
    ByteClass others;
    for (int c = 0; c < 256; ++c) {
      if (!kInnerBytes[static_cast<std::size_t>(c)]) others.add(static_cast<char>(c));
    }
    return others;
  }();
  return kOthers.find(bytes, 0) == bytes.size();
}

}  // namespace callgate::dialect
