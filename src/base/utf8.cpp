#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace callgate::utf8 {
namespace {

struct Step {
  std::size_t length;  // bytes looked at: of the sequence, or of the invalid part
  enum class Kind { whole, invalid, cut } kind;
};

// REQUIRES: not at the end, and text[at] is not ASCII.
Step step(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at);
  std::size_t need = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    need = 1;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    need = 2;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    need = 3;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, Step::Kind::invalid};
  }
  for (std::size_t i = 1; i <= need; ++i) {
    if (at + i == text.size()) return {i, Step::Kind::cut};
    if (byte(at + i) < low || byte(at + i) > high) return {i, Step::Kind::invalid};
    low = 0x80;
    high = 0xBF;
  }
  return {need + 1, Step::Kind::whole};
}

std::size_t skip_ascii(std::string_view text, std::size_t at) {
  while (at + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if (word & 0x8080808080808080ULL) break;
    at += 8;
  }
  while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

std::size_t incomplete_tail(std::string_view text) {
  const std::size_t reach = text.size() < 3 ? text.size() : 3;
  for (std::size_t back = 1; back <= reach; ++back) {
    const auto byte = static_cast<std::uint8_t>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte >= 0xC0) {
      const Step seen = step(text, text.size() - back);
      return seen.kind == Step::Kind::cut ? back : 0;
    }
  }
  return 0;
}

std::size_t find_invalid(std::string_view text) {
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const Step seen = step(text, at);
    if (seen.kind != Step::Kind::whole) return at;
    at += seen.length;
  }
  return std::string_view::npos;
}

std::size_t append_sanitized(std::string& out, std::string_view text) {
  std::size_t clean = 0;
  std::size_t replaced = 0;
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const Step seen = step(text, at);
    if (seen.kind != Step::Kind::whole) {
      out.append(text, clean, at - clean);
      out.append(kReplacement);
      ++replaced;
      clean = at + seen.length;
    }
    at += seen.length;
  }
  out.append(text, clean, text.size() - clean);
  return replaced;
}

void append_code_point(std::string& out, char32_t code_point) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace callgate::utf8
