#include "tool/url_path.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace callgate::tool {
namespace {

// Encoded more often than this, a path is not worth an explanation.
constexpr int kMostDecodings = 8;

std::optional<unsigned> hex_number(std::string_view digits) {
  unsigned value = 0;
  for (const char c : digits) {
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<unsigned>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<unsigned>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

// What a server may take a character for: NFKC, and the mappings of older Windows servers.
std::string_view plain_form(std::uint32_t character) {
  switch (character) {
    case '.':
    case 0x2024:
    case 0x3002:
    case 0xFE52:
    case 0xFF0E:
    case 0xFF61:
      return ".";
    case 0x2025:
    case 0xFE30:
      return "..";
    case '/':
    case 0x2044:
    case 0x2215:
    case 0x29F8:
    case 0xFF0F:
      return "/";
    case '\\':
    case 0x2216:
    case 0x29F5:
    case 0x29F9:
    case 0xFE68:
    case 0xFF3C:
      return "\\";
    case 0x20:
    case 0xA0:
    case 0x3000:
      return " ";
    default:
      return character < 0x80 ? "" : "x";
  }
}

// One round of decoding: %XX and %uXXXX.
bool decode_percent(std::string& text) {
  std::string out;
  bool changed = false;
  const std::string_view in = text;
  for (std::size_t at = 0; at < in.size();) {
    if (in[at] == '%' && in.size() - at >= 6 && (in[at + 1] | 0x20) == 'u') {
      if (const auto number = hex_number(in.substr(at + 2, 4))) {
        const std::string_view plain = plain_form(*number);
        if (plain.empty()) {
          out.push_back(static_cast<char>(*number));
        } else {
          out.append(plain);
        }
        at += 6;
        changed = true;
        continue;
      }
    }
    const auto number =
        in[at] == '%' && in.size() - at >= 3 ? hex_number(in.substr(at + 1, 2)) : std::nullopt;
    out.push_back(number ? static_cast<char>(*number) : in[at]);
    at += number ? 3 : 1;
    changed = changed || number.has_value();
  }
  text = std::move(out);
  return changed;
}

// How a lenient decoder reads UTF-8: it neither asks for the shortest form nor whether the bytes that follow may follow.
std::string fold_utf8(std::string_view in) {
  std::string out;
  for (std::size_t at = 0; at < in.size();) {
    const auto lead = static_cast<unsigned char>(in[at]);
    std::size_t length = 1;
    if (lead >= 0xC0)
      length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : lead < 0xFC ? 5 : 6;
    if (length == 1 || in.size() - at < length) {
      out.push_back(in[at++]);
      continue;
    }
    std::uint32_t character = lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
      character = character << 6 | (static_cast<unsigned char>(in[at + i]) & 0x3Fu);
    }
    const std::string_view plain = plain_form(character);
    if (plain.empty()) {
      out.push_back(static_cast<char>(character));
    } else {
      out.append(plain);
    }
    at += length;
  }
  return out;
}

bool is_dropped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7F;
}

bool names_dots(std::string_view segment) {
  std::string kept;
  for (const char c : segment.substr(0, segment.find_first_of(std::string_view(";?#\0", 4)))) {
    if (!is_dropped(c)) kept.push_back(c);
    if (kept.size() > 2) return false;
  }
  return kept == "." || kept == "..";
}

bool has_plain_dot_segment(std::string_view path) {
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find_first_of("/\\", at), path.size());
    if (names_dots(path.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

bool has_dot_segment(std::string_view path) {
  std::string text(path);
  for (int round = 0; round < kMostDecodings; ++round) {
    if (has_plain_dot_segment(text) || has_plain_dot_segment(fold_utf8(text))) return true;
    if (!decode_percent(text)) return false;
  }
  return true;
}

}  // namespace callgate::tool
