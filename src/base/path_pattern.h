// Patterns for URL paths: `/v1/models` matches itself. A `*` at the end of the last segment, or before a suffix of it, matches one
// or more segments: `/v1/models/*`, `/v1beta/models/*:countTokens`.
#pragma once

#include <cstddef>
#include <string_view>

namespace callgate {

constexpr bool path_matches(std::string_view pattern, std::string_view path) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == path;
  const std::string_view suffix = pattern.substr(star + 1);
  return path.size() > star + suffix.size() && path.starts_with(pattern.substr(0, star)) &&
         path.ends_with(suffix);
}

}  // namespace callgate
