// UTF-8 as WHATWG decodes it: what is whole, what is cut, what must be replaced.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate::utf8 {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes at the end of `text` that begin a sequence which is not complete yet (0 to 3).
std::size_t incomplete_tail(std::string_view text);

// The offset of the first byte that is not part of a valid sequence, or npos.
std::size_t find_invalid(std::string_view text);

inline bool is_valid(std::string_view text) { return find_invalid(text) == std::string_view::npos; }

// Appends `text` with each maximal invalid part replaced by U+FFFD, as a browser's decoder does. Gives the number of
// replacements.
std::size_t append_sanitized(std::string& out, std::string_view text);

void append_code_point(std::string& out, char32_t code_point);

}  // namespace callgate::utf8
