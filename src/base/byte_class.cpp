#include "base/byte_class.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace callgate {

void ByteClass::add(char byte) {
  const auto value = static_cast<std::uint8_t>(byte);
  bytes_[value] = true;
  auto& table = value < 0x80 ? ascii_ : others_;
  const auto bit = static_cast<std::uint8_t>(1u << ((value >> 4) & 7));
  table[value & 15u] |= bit;
  table[(value & 15u) + 16] |= bit;
}

#if defined(__x86_64__)
namespace {

// A lookup gives 0 where the high bit of its index is set: each table sees its own half of all bytes.
__attribute__((target("avx2"))) std::size_t find_avx2(std::string_view text, std::size_t at,
                                                      const std::uint8_t* ascii,
                                                      const std::uint8_t* others) {
  const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(ascii));
  const __m256i high = _mm256_load_si256(reinterpret_cast<const __m256i*>(others));
  const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
  const __m256i top = _mm256_set1_epi8(static_cast<char>(0x80));
  const __m256i half = _mm256_set1_epi8(0x0f);
  for (; text.size() - at >= 32; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at));
    const __m256i sets = _mm256_or_si256(_mm256_shuffle_epi8(low, bytes),
                                         _mm256_shuffle_epi8(high, _mm256_xor_si256(bytes, top)));
    const __m256i halves = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    const __m256i own = _mm256_shuffle_epi8(bits, halves);
    const __m256i absent = _mm256_cmpeq_epi8(_mm256_and_si256(sets, own), _mm256_setzero_si256());
    const auto found = ~static_cast<unsigned>(_mm256_movemask_epi8(absent));
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return at;
}

const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;

}  // namespace

std::size_t ByteClass::find_in_blocks(std::string_view text, std::size_t at) const {
  return kHasAvx2 ? find_avx2(text, at, ascii_.data(), others_.data()) : at;
}
#else
std::size_t ByteClass::find_in_blocks(std::string_view, std::size_t at) const { return at; }
#endif

}  // namespace callgate
