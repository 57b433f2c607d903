// FNV-1a: a quick hash for telling texts apart. Not for tables that strangers fill: see keyed_hash.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace callgate {

inline constexpr std::uint64_t kFnv1aStart = 0xCBF29CE484222325ULL;

// The hash of what `hash` is of, followed by `bytes`.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnv1aStart) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  return hash;
}

}  // namespace callgate
