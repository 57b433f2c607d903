// The search that reader, writer and scanner share: how far do the bytes of a JSON string need no attention?
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace callgate::json {

static_assert(std::endian::native == std::endian::little, "words are searched from their low byte");

struct StringRun {
  const char* end;  // at the first quote, backslash or control character, or at the end of the text
  bool ascii;       // all bytes of the run are
};

namespace detail {

inline constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
inline constexpr std::uint64_t kHighs = 0x8080808080808080ULL;

// The lowest bit set marks the first quote, backslash or control character; higher bits may be wrong.
inline std::uint64_t special_bytes(std::uint64_t word) {
  const auto has_zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
  const std::uint64_t control = (word - kOnes * 0x20) & ~word;
  return (control | has_zero(word ^ (kOnes * '"')) | has_zero(word ^ (kOnes * '\\'))) & kHighs;
}

// 1 to 7 bytes as a word; the bytes above them are 0.
inline std::uint64_t load_short(const char* at, std::size_t size) {
  if (size >= 4) {
    std::uint32_t low;
    std::uint32_t high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + size - 4, 4);
    return low | std::uint64_t{high} << (8 * (size - 4));
  }
  const auto byte = [&](std::size_t i) {
    return std::uint64_t{static_cast<std::uint8_t>(at[i])} << (8 * i);
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

}  // namespace detail

inline StringRun string_run(const char* at, const char* end) {
  bool ascii = true;
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const auto found = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, slash))));
    const auto high = static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
    if (found != 0) {
      const std::uint32_t below = (found & (~found + 1)) - 1;
      return {at + std::countr_zero(found), ascii && (high & below) == 0};
    }
    ascii = ascii && high == 0;
  }
#endif
  while (at != end) {
    const std::size_t left = static_cast<std::size_t>(end - at);
    std::uint64_t word = 0;
    if (left >= 8) {
      std::memcpy(&word, at, 8);
    } else {
      word = detail::load_short(at, left);  // the zero byte behind it ends the run at `end`
    }
    const std::uint64_t found = detail::special_bytes(word);
    if (found != 0) {
      const std::uint64_t below = (found & (~found + 1)) - 1;
      return {at + std::countr_zero(found) / 8, ascii && (word & below & detail::kHighs) == 0};
    }
    ascii = ascii && (word & detail::kHighs) == 0;
    at += 8;
  }
  return {at, ascii};
}

}  // namespace callgate::json
