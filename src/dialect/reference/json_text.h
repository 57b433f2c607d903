// JSON in the text of a turn, for references: where a value ends, and what arguments come out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chat/event_log.h"

namespace callgate::dialect::reference {

struct JsonEnd {
  enum class State : std::uint8_t {
    whole,
    cut,     // the text ends inside
    broken,  // it is not JSON from `end` on
  };
  State state = State::broken;
  std::size_t end = 0;
};

// Control characters may stand in strings as they are. Nesting beyond 128 is no JSON.
JsonEnd skip_json(std::string_view text, std::size_t at);
JsonEnd skip_json_string(std::string_view text, std::size_t at);

// The text of a string that was skipped, quotes included.
std::string json_string_text(std::string_view raw);

// The JSON as it was written, control characters in strings escaped.
std::string escaped_json(std::string_view raw);

// Text as a JSON string.
std::string json_quoted(std::string_view text);

}  // namespace callgate::dialect::reference
