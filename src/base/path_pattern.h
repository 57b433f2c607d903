// Patterns for URL paths: `/v1/models` matches itself, a final `/*` one or more segments.
#pragma once

#include <string_view>

namespace callgate {

constexpr bool path_matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with("/*")) return pattern == path;
  pattern.remove_suffix(1);
  return path.size() > pattern.size() && path.starts_with(pattern);
}

}  // namespace callgate
