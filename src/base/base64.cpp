#include "base/base64.h"

#include <cstdint>

namespace callgate::base64 {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

void append_encoded(std::string& out, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out.push_back(i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=');
    }
  }
}

std::optional<std::string> decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size() - padding; ++i) {
    const int value = value_of(text[i]);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    // Of each four digits the second, third and fourth complete a byte.
    if (i % 4 != 0) out.push_back(static_cast<char>(bits >> (6 - 2 * (i % 4)) & 255));
  }
  // Bits that belong to no byte are zero: every text has one meaning, and every meaning one text.
  if (padding > 0 && (bits & ((1u << (2 * padding)) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace callgate::base64
