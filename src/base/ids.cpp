#include "base/ids.h"

#include <algorithm>
#include <array>

namespace callgate {

// splitmix64
std::uint64_t IdMint::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

void IdMint::fill(char* digits, std::size_t length) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::size_t kDigitsOfOneNumber = 10;
  char* const end = digits + length;
  while (digits != end) {
    std::uint64_t bits = next();
    char* const stop =
        digits + std::min(kDigitsOfOneNumber, static_cast<std::size_t>(end - digits));
    for (; digits != stop; bits /= kAlphabet.size()) *digits++ = kAlphabet[bits % kAlphabet.size()];
  }
}

std::string IdMint::mint(std::string_view prefix, std::size_t length) {
  std::string id(prefix.size() + length, '\0');
  prefix.copy(id.data(), prefix.size());
  fill(id.data() + prefix.size(), length);
  return id;
}

std::string IdMint::mint_timed(std::string_view prefix, std::int64_t unix_ms, std::size_t length) {
  // In the order of their bytes.
  static constexpr std::string_view kDigits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::array<char, 8> digits;
  auto rest = static_cast<std::uint64_t>(unix_ms);
  for (std::size_t i = digits.size(); i-- > 0;) {
    digits[i] = kDigits[rest % kDigits.size()];
    rest /= kDigits.size();
  }
  const std::size_t random = length > digits.size() ? length - digits.size() : 0;
  std::string id(prefix.size() + digits.size() + random, '\0');
  prefix.copy(id.data(), prefix.size());
  std::copy(digits.begin(), digits.end(), id.data() + prefix.size());
  fill(id.data() + prefix.size() + digits.size(), random);
  return id;
}

}  // namespace callgate
