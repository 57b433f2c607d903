#include "cli/log_text.h"

#include <algorithm>

#include "base/utf8.h"
#include "json/reader.h"

namespace callgate::cli {

std::string harmless(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string valid;
  utf8::append_sanitized(valid, text);
  std::string out;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto c = static_cast<unsigned char>(valid[i]);
    const bool is_c1 =
        c == 0xC2 && i + 1 < valid.size() && static_cast<unsigned char>(valid[i + 1]) < 0xA0;
    if ((c >= 0x20 && c != 0x7F && !is_c1) || c == '\n' || c == '\t') {
      out.push_back(static_cast<char>(c));
    } else if (c != '\r') {
      const unsigned char shown = is_c1 ? static_cast<unsigned char>(valid[++i]) : c;
      out.append("\\x").push_back(kHex[shown >> 4]);
      out.push_back(kHex[shown & 15]);
    }
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out = harmless(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

std::string indented(std::string_view text, std::string_view by) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out.append(by).append(text.substr(0, end));
    out.push_back('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string pretty_json(std::string_view json) {
  json::Reader check(json);
  check.skip();
  if (!check.finish()) return std::string(json);
  std::string out;
  std::size_t depth = 0;
  const auto new_line = [&] { out.append("\n").append(depth * 2, ' '); };
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out.push_back(c);
      if (c == '\\') out.push_back(json[++i]);
      in_string = c != '"';
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    if (c == '{' || c == '[') {
      const std::size_t next = json.find_first_not_of(" \t\r\n", i + 1);
      out.push_back(c);
      if (json[next] == '}' || json[next] == ']') {
        out.push_back(json[next]);
        i = next;
        continue;
      }
      ++depth;
      new_line();
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out.push_back(c);
    } else if (c == ',') {
      out.push_back(c);
      new_line();
    } else if (c == ':') {
      out.append(": ");
    } else {
      out.push_back(c);
      in_string = c == '"';
    }
  }
  return out;
}

}  // namespace callgate::cli
