// The search that reader, writer and scanner share: how far do the bytes of a JSON string need no attention?
#pragma once

#include <bit>
#include <cstddef>
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

// Bits for the bytes of one word: kStep bits per byte, the first byte lowest.
struct Marks {
  std::uint64_t
      special;  // quotes, backslashes, control characters; what is above the lowest bit may be wrong
  std::uint64_t high;  // bytes that are not ASCII
};

#if defined(__SSE2__)
inline constexpr int kStep = 1;

inline Marks marks(__m128i bytes) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i special = _mm_or_si128(control, _mm_or_si128(quote, slash));
  return {static_cast<std::uint32_t>(_mm_movemask_epi8(special)),
          static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))};
}

inline Marks marks(std::uint64_t word) {
  const Marks found = marks(_mm_cvtsi64_si128(static_cast<long long>(word)));
  return {found.special & 0xFF, found.high};
}
#else
inline constexpr int kStep = 8;

inline Marks marks(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHighs = 0x8080808080808080ULL;
  const auto zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
  const std::uint64_t control = (word - kOnes * 0x20) & ~word;
  const std::uint64_t special = control | zero(word ^ (kOnes * '"')) | zero(word ^ (kOnes * '\\'));
  return {special & kHighs, word & kHighs};
}
#endif

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

// REQUIRES: found.special != 0. The run that ends there.
inline StringRun run_to(const char* at, Marks found, bool ascii) {
  const std::uint64_t below = (found.special & (~found.special + 1)) - 1;
  return {at + std::countr_zero(found.special) / kStep, ascii && (found.high & below) == 0};
}

// Not 0: one of the bytes is special or is not ASCII.
inline std::uint64_t not_plain(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  const auto zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
  const std::uint64_t control = word - kOnes * 0x20;
  return (word | control | zero(word ^ (kOnes * '"')) | zero(word ^ (kOnes * '\\'))) &
         (kOnes * 0x80);
}

template <typename Word>
std::uint64_t load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace detail

inline StringRun string_run(const char* at, const char* end) {
  bool ascii = true;
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    const detail::Marks found =
        detail::marks(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    if (found.special != 0) return detail::run_to(at, found, ascii);
    ascii = ascii && found.high == 0;
  }
#endif
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const detail::Marks found = detail::marks(word);
    if (found.special != 0) return detail::run_to(at, found, ascii);
    ascii = ascii && found.high == 0;
  }
  if (at == end) return {end, ascii};
  // The zero byte after the last one counts as a control character and ends the run.
  const std::uint64_t word = detail::load_short(at, static_cast<std::size_t>(end - at));
  return detail::run_to(at, detail::marks(word), ascii);
}

// Whether all bytes are ASCII that a JSON string need not escape. Made for a few bytes: words may overlap.
inline bool is_plain_string(const char* at, std::size_t size) {
  using detail::load;
  const char* const end = at + size;
  if (size > 16) {
    const StringRun run = string_run(at, end);
    return run.end == end && run.ascii;
  }
  if (size >= 8) {
    return (detail::not_plain(load<std::uint64_t>(at)) |
            detail::not_plain(load<std::uint64_t>(end - 8))) == 0;
  }
  if (size >= 4) {
    const std::uint64_t last = load<std::uint32_t>(end - 4);
    return detail::not_plain(load<std::uint32_t>(at) | last << 32) == 0;
  }
  if (size == 0) return true;
  constexpr std::uint64_t kSpaces = 0x2020202020000000ULL;
  const auto byte = [&](std::size_t i) { return load<std::uint8_t>(at + i); };
  return detail::not_plain(kSpaces | byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16) == 0;
}

}  // namespace callgate::json
