// The model servers that an upstream's key `server` can name, and how they treat tools.
#pragma once

#include <string_view>

namespace callgate::server {

struct ServerKind {
  std::string_view name;
  // `tool_choice: "none"` keeps the tools in the prompt and turns the server's own parser off.
  bool none_shows_tools = false;
  bool has_skip_special_tokens = false;  // and leaves special tokens out unless it is false
};

// nullptr if the kind is unknown.
const ServerKind* find_server_kind(std::string_view name);

// Whether upstreams of that wire format can be asked to leave calls in the text.
bool can_leave_calls_in_text(std::string_view wire);

}  // namespace callgate::server
