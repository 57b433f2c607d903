// Whether text is ASCII, a word at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace callgate {

inline bool is_ascii(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t seen = 0;
  for (; left >= sizeof(seen); at += sizeof(seen), left -= sizeof(seen)) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    seen |= word;
  }
  for (; left > 0; ++at, --left) seen |= static_cast<unsigned char>(*at);
  return (seen & 0x8080808080808080ULL) == 0;
}

}  // namespace callgate
