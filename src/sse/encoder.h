// Server-sent-event frames -> bytes, appended to a text that the caller reuses.
#pragma once

#include <string>
#include <string_view>

namespace callgate {

// `event: name\n` unless the name is empty, then `data: ...\n\n`. Data is cut into one data line per line; a decoder
// joins them by \n whatever the line ends were. REQUIRES: no line ends in `event`.
void append_frame(std::string& out, std::string_view event, std::string_view data);

// `: text\n\n`, which every client ignores: it keeps a silent connection open.
void append_comment(std::string& out, std::string_view text);

}  // namespace callgate
