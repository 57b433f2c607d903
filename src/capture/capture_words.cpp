#include "capture/capture_words.h"

#include "json/writer.h"

namespace callgate::server {

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::client_in:
      return "client_in";
    case Direction::upstream_out:
      return "upstream_out";
    case Direction::upstream_in:
      return "upstream_in";
    case Direction::client_out:
      return "client_out";
  }
  return "";
}

void append_headers(std::string& out, const CapturedHead& head) {
  out += '[';
  for (const auto& [name, value] : head.headers) {
    if (out.back() == ']') out += ',';
    out += '[';
    json::append_string(out, name);
    out += ',';
    json::append_string(out, value);
    out += ']';
  }
  out += ']';
}

}  // namespace callgate::server
