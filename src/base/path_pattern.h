// Patterns for URL paths: `/v1/models` matches itself. A `*` at the end of the last segment, or before a suffix of it, matches one
// or more segments: `/v1/models/*`, `/v1beta/models/*:countTokens`.
#pragma once

#include <cstddef>
#include <string_view>

namespace callgate {

constexpr bool path_matches(std::string_view pattern, std::string_view path) {
  // Most patterns that do not match end with another letter.
  const bool may_end = !pattern.empty() && !path.empty() && pattern.back() == path.back();
  if (!may_end && !pattern.ends_with('*')) return pattern.empty() && path.empty();
  std::size_t star = 0;
  for (; star < pattern.size() && pattern[star] != '*'; ++star) {
    if (star == path.size() || path[star] != pattern[star]) return false;
  }
  if (star == pattern.size()) return path.size() == star;
  const std::string_view suffix = pattern.substr(star + 1);
  return path.size() > star + suffix.size() && path.ends_with(suffix);
}

}  // namespace callgate
