// What stands for a signature or for sealed content of a text: the same text has the same one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fnv1a.h"

namespace callgate::script {

// `prefix` and sixteen hex digits.
inline std::string sealed(std::string_view prefix, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::uint64_t hash = fnv1a(text);
  std::string made(prefix);
  for (int shift = 60; shift >= 0; shift -= 4) made.push_back(kHex[(hash >> shift) & 15]);
  return made;
}

}  // namespace callgate::script
