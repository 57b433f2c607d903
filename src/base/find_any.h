// Searches for the first of a few bytes, sixteen at a time where the machine can.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <string_view>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace callgate {

#if defined(__SSE2__)
namespace detail {

// Sixteen bytes beside each member of a set. The members are spread once, not once for each sixteen bytes.
template <std::size_t... I>
auto make_marker(const char* set, std::index_sequence<I...>) {
  return [... spread = _mm_set1_epi8(set[I])](const char* at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    __m128i found = _mm_setzero_si128();
    ((found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, spread))), ...);
    return static_cast<unsigned>(_mm_movemask_epi8(found));  // a bit for each byte
  };
}

}  // namespace detail
#endif

// The offset of the first byte from `at` on that is one of `set`, or the size of `text`. REQUIRES: at <= text.size()
template <std::size_t N>
std::size_t find_any(std::string_view text, std::size_t at, const std::array<char, N>& set) {
#if defined(__SSE2__)
  constexpr std::size_t kStep = 16;
  const auto marks = detail::make_marker(set.data(), std::make_index_sequence<N>());
  for (; text.size() - at >= kStep; at += kStep) {
    const unsigned found = marks(text.data() + at);
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  if (at == text.size()) return at;
  if (text.size() >= kStep) {  // the last sixteen, some of them for the second time
    const std::size_t last = text.size() - kStep;
    const unsigned found = marks(text.data() + last) >> (at - last);
    return found == 0 ? text.size() : at + static_cast<std::size_t>(std::countr_zero(found));
  }
#endif
  const auto is_one = [&](char c) {
    bool found = false;
    for (const char one : set) found |= c == one;
    return found;
  };
  while (at < text.size() && !is_one(text[at])) ++at;
  return at;
}

}  // namespace callgate
