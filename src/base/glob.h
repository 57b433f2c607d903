// Patterns for names: `*` stands for any characters, `?` for one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace callgate {

enum class Case : std::uint8_t { exact, ignored };  // ignored: of ASCII letters

bool glob_matches(std::string_view pattern, std::string_view text, Case letters = Case::exact);
bool matches_any(std::span<const std::string> patterns, std::string_view text);

}  // namespace callgate
