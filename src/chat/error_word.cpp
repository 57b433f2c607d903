#include "chat/error_word.h"

namespace callgate {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
      return "invalid_request";
    case ErrorCode::unauthenticated:
      return "unauthenticated";
    case ErrorCode::forbidden:
      return "forbidden";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::not_allowed:
      return "not_allowed";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::rate_limited:
      return "rate_limited";
    case ErrorCode::upstream_failed:
      return "upstream_failed";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::optional<ErrorCode> to_error_code(std::string_view word) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    if (to_string(static_cast<ErrorCode>(code)) == word) return static_cast<ErrorCode>(code);
  }
  return std::nullopt;
}

}  // namespace callgate
