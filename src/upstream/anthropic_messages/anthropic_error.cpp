#include "upstream/anthropic_messages/anthropic_error.h"

#include <array>

#include "json/reader.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream {
namespace {

struct MessagesErrorRow {
  std::string_view type;
  ErrorCode code;
};

constexpr std::array<MessagesErrorRow, 10> kTypes = {{
    {"api_error", ErrorCode::upstream_failed},
    {"authentication_error", ErrorCode::upstream_failed},
    {"billing_error", ErrorCode::upstream_failed},
    {"invalid_request_error", ErrorCode::invalid_request},
    {"not_found_error", ErrorCode::not_found},
    {"overloaded_error", ErrorCode::unavailable},
    {"permission_error", ErrorCode::upstream_failed},
    {"rate_limit_error", ErrorCode::rate_limited},
    {"request_too_large", ErrorCode::too_large},
    {"timeout_error", ErrorCode::timed_out},
}};

// What is inside the envelope: its own `type` says nothing.
std::string_view unwrapped(std::string_view json) {
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return json;
  std::string_view error;
  for (std::string_view key; in.next_member(key);) {
    if (key == "error" && in.peek() == json::Kind::object) {
      error = in.raw();
    } else {
      in.skip();
    }
  }
  return in.finish() && !error.empty() ? error : json;
}

}  // namespace

Error decode_anthropic_error(int status, std::string_view json) {
  Error error = decode_openai_error(status, unwrapped(json));
  if (error.status == 0) {
    for (const MessagesErrorRow& row : kTypes) {
      if (row.type == error.type) error.code = row.code;
    }
  }
  if (error.type == "authentication_error") error.message = "the upstream refused callgate's key";
  return error;
}

}  // namespace callgate::upstream
