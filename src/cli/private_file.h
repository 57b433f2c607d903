// A file that nobody else may read.
#pragma once

#include <string>
#include <string_view>

#include "callgate/result.h"

namespace callgate::cli {

// Takes the place of what was there at once: a reader sees the old text or the new one. Makes the folders on its way.
Result<void> write_private_file(const std::string& path, std::string_view text);

}  // namespace callgate::cli
