#include "client/body.h"

#include <algorithm>
#include <string>
#include <utility>

#include "chat/field_reader.h"
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

Result<void> check_body(std::string_view body) {
  json::Reader in(body);
  const json::Kind kind = in.peek();
  in.skip();
  if (!in.finish()) return tl::unexpected(syntax_error(body, in.error()));
  if (kind == json::Kind::object) return {};
  return fail(ErrorCode::invalid_request,
              "the body is " + std::string(name_of(kind)) + ", expected a JSON object");
}

}  // namespace callgate::client
