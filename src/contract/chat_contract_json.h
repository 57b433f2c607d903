// Foreign JSON looked at member by member, as raw text: a rule asks what is there before it asks what it means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/reader.h"

namespace callgate::contract {

// The raw values of the named members; empty: not there. The last of doubles counts. REQUIRES: `object` is well-formed.
template <std::size_t N>
std::array<std::string_view, N> members(std::string_view object,
                                        const std::string_view (&names)[N]) {
  std::array<std::string_view, N> found{};
  json::Reader in(object);
  if (object.empty() || in.peek() != json::Kind::object) return found;
  for (std::string_view key; in.next_member(key);) {
    std::size_t i = 0;
    while (i < N && names[i] != key) ++i;
    const std::string_view value = in.raw();
    if (i < N) found[i] = value;
  }
  return found;
}

inline json::Kind kind_of(std::string_view raw) {
  return raw.empty() ? json::Kind::invalid : json::Reader(raw).peek();
}
// Not there, or null.
inline bool is_nothing(std::string_view raw) { return raw.empty() || raw == "null"; }
inline bool is_string(std::string_view raw) { return raw.starts_with('"'); }
inline bool is_object(std::string_view raw) { return raw.starts_with('{'); }
inline bool is_array(std::string_view raw) { return raw.starts_with('['); }
inline std::string to_text(std::string_view raw) { return std::string(json::Reader(raw).string()); }
inline std::optional<std::int64_t> to_integer(std::string_view raw) {
  return kind_of(raw) == json::Kind::number ? json::Reader(raw).integer() : std::nullopt;
}
// Nothing, or a value without content.
inline bool is_blank(std::string_view raw) {
  return is_nothing(raw) || raw == "\"\"" || raw == "[]" || raw == "{}";
}

bool is_well_formed(std::string_view text);
// An escape such as \uD83D without its other half. REQUIRES: `json` is well-formed.
bool has_half_surrogate(std::string_view json);

// At most so much of foreign bytes is repeated in a sentence: one line of whole characters.
std::string excerpt(std::string_view bytes, std::size_t limit = 80);
// ...of a raw value.
inline std::string shown(std::string_view raw) { return raw.empty() ? "nothing" : excerpt(raw); }

}  // namespace callgate::contract
