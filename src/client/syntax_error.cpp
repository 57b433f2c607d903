#include "client/syntax_error.h"

#include <algorithm>
#include <utility>

#include "json/writer.h"

namespace callgate::client {

Error syntax_error(std::string_view body, const json::ReadError& fault) {
  const std::string_view before = body.substr(0, std::min(fault.offset, body.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  std::string message = "the body is not valid JSON: ";
  message.append(fault.message).append(" at byte ");
  json::append_integer(message, static_cast<std::int64_t>(before.size()));
  message.append(" (line ");
  json::append_integer(message, 1 + std::count(before.begin(), before.end(), '\n'));
  message.append(", column ");
  json::append_integer(message, static_cast<std::int64_t>(before.size() - line_start + 1));
  message.push_back(')');
  return {.code = ErrorCode::invalid_request, .message = std::move(message)};
}

}  // namespace callgate::client
