// What ${...} in a string of the configuration stands for.
//
//   ${NAME}            an environment variable, which must be set
//   ${NAME:-default}   the same, or the default where it is not set or empty
//   ${file:/path}      the content of a file without the line feeds at its end, as secrets are mounted
//   $$                 a dollar sign; in commands, where it means something to a shell, only before a brace: $${
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/result.h"

namespace callgate::server {

enum class Dollars : std::uint8_t { everywhere, before_braces };

// The error names what is missing, and never shows a value. `dollars`: where two of them stand for one.
Result<std::string> expand_text(std::string_view text, Dollars dollars = Dollars::everywhere);

}  // namespace callgate::server
