#include "sse/encoder.h"

namespace callgate {
namespace {

void append_lines(std::string& out, std::string_view field, std::string_view text) {
  while (true) {
    const std::size_t end = text.find_first_of("\r\n");
    out.append(field).append(text, 0, end).push_back('\n');
    if (end == std::string_view::npos) return;
    text.remove_prefix(text.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
}

}  // namespace

void append_frame(std::string& out, std::string_view event, std::string_view data) {
  if (!event.empty()) out.append("event: ").append(event).push_back('\n');
  append_lines(out, "data: ", data);
  out.push_back('\n');
}

void append_comment(std::string& out, std::string_view text) {
  append_lines(out, ": ", text);
  out.push_back('\n');
}

}  // namespace callgate
