// Patterns for names: `*` stands for any characters, `?` for one.
#pragma once

#include <cstdint>
#include <string_view>

namespace callgate {

enum class Case : std::uint8_t { exact, ignored };  // ignored: of ASCII letters

bool glob_matches(std::string_view pattern, std::string_view text, Case letters = Case::exact);

}  // namespace callgate
