// What a command reads.
#pragma once

#include <string>

#include "callgate/result.h"

namespace callgate::cli {

// The content of a file; of standard input for "-" and for no name.
Result<std::string> read_input(const std::string& file);

}  // namespace callgate::cli
