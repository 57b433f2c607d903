// Words and members that captures and the inspector write alike.
#pragma once

#include <string>
#include <string_view>

#include "capture/capture_format.h"

namespace callgate::server {

std::string_view to_string(Direction direction);

// [["name","value"],...]
void append_headers(std::string& out, const CapturedHead& head);

}  // namespace callgate::server
