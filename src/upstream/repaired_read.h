// Reading a JSON document of an upstream whose bytes may be no UTF-8: what cannot be read as it is gets its invalid bytes
// replaced and is read again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace callgate::upstream {

// Without the white space around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// `read` reads a document and tells whether it could. `sanitized` holds the second one for as long as the caller looks into
// it; `replaced` is how many bytes were replaced.
template <class Read>
bool read_repaired(std::string_view document, std::string& sanitized, std::size_t& replaced,
                   Read read) {
  replaced = 0;
  if (read(document)) return true;
  if (utf8::is_valid(document)) return false;
  sanitized.clear();
  replaced = utf8::append_sanitized(sanitized, document);
  return read(std::string_view(sanitized));
}

}  // namespace callgate::upstream
