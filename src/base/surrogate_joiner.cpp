#include "base/surrogate_joiner.h"

#include <cstdint>

#include "base/utf8.h"

namespace callgate {
namespace {

constexpr std::size_t kHalfLength = 3;

// The first half at or after `at`, or npos. Other text has ED too, but never with A0 to BF after it.
std::size_t find_half(std::string_view text, std::size_t at) {
  while (true) {
    at = text.find('\xED', at);
    if (at == std::string_view::npos || text.size() - at < kHalfLength) {
      return std::string_view::npos;
    }
    if (static_cast<std::uint8_t>(text[at + 1]) >= 0xA0) return at;
    at += kHalfLength;
  }
}

char32_t half_at(std::string_view text, std::size_t at) {
  const auto low_bits = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]) & 0x3Fu; };
  return 0xD000u | low_bits(at + 1) << 6 | low_bits(at + 2);
}

bool is_high(char32_t half) { return half < 0xDC00; }

}  // namespace

std::string_view SurrogateJoiner::push(std::string_view piece, std::string& scratch) {
  if (piece.empty()) return piece;
  std::size_t half = find_half(piece, 0);
  if (half == std::string_view::npos && high_ == 0) return piece;
  scratch.clear();
  std::size_t at = 0;
  while (true) {
    const std::size_t end = half == std::string_view::npos ? piece.size() : half;
    if (end > at) scratch.append(finish()).append(piece, at, end - at);
    if (half == std::string_view::npos) return scratch;
    append_half(scratch, half_at(piece, half));
    at = half + kHalfLength;
    half = find_half(piece, at);
  }
}

void SurrogateJoiner::append_half(std::string& out, char32_t half) {
  if (is_high(half)) {
    out.append(finish());
    high_ = half;
  } else if (high_ != 0) {
    utf8::append_code_point(out, 0x10000 + ((high_ - 0xD800) << 10) + (half - 0xDC00));
    high_ = 0;
  } else {
    out.append(utf8::kReplacement);
    ++replaced_;
  }
}

std::string_view SurrogateJoiner::finish() {
  if (high_ == 0) return {};
  high_ = 0;
  ++replaced_;
  return utf8::kReplacement;
}

}  // namespace callgate
