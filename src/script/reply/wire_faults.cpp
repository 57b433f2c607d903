#include "script/reply/wire_faults.h"

#include <utility>

#include "json/member.h"
#include "json/reader.h"
#include "script/reply/json_edit.h"

namespace callgate::script {
namespace {

std::optional<std::string> if_there(std::string_view json, std::string_view value) {
  return json.empty() ? std::nullopt : std::optional(std::string(value));
}

}  // namespace

std::optional<std::string> to_null(std::string_view json) { return if_there(json, "null"); }
std::optional<std::string> to_empty_text(std::string_view json) { return if_there(json, "\"\""); }
std::optional<std::string> to_zero(std::string_view json) { return if_there(json, "0"); }

std::optional<std::string> plus_one(std::string_view json) {
  json::Reader in(json);
  if (json.empty()) return std::nullopt;
  return std::to_string(in.integer().value_or(0) + 1);
}

std::optional<std::string> to_text(std::string_view json) {
  return if_there(json, "\"" + std::string(json) + "\"");
}

std::optional<std::string> unquoted(std::string_view json) {
  if (!json.starts_with('"')) return if_there(json, json);
  json::Reader in(json);
  std::string text(in.string());
  return is_json(text) ? text : std::string(json);
}

std::optional<std::string> faulty_finish(const Faults& faults) {
  if (faults.finish().empty()) return std::nullopt;
  return json_text(faults.finish() == "empty" ? std::string_view() : faults.finish());
}

std::optional<std::string> unwrapped(std::string_view json) {
  if (!json.starts_with("{\"raw\":")) return if_there(json, json);
  const std::string text(json::member_json(json, "raw"));
  return unquoted(text);
}

Error scripted_error(int status, std::string_view message) {
  Error error{.code = status < 500 ? ErrorCode::invalid_request : ErrorCode::internal,
              .message = std::string(message),
              .status = status};
  constexpr std::pair<int, ErrorCode> kCodes[] = {
      {401, ErrorCode::unauthenticated}, {403, ErrorCode::forbidden},
      {404, ErrorCode::not_found},       {409, ErrorCode::conflict},
      {413, ErrorCode::too_large},       {429, ErrorCode::rate_limited},
      {502, ErrorCode::upstream_failed}, {503, ErrorCode::unavailable},
      {504, ErrorCode::timed_out},       {529, ErrorCode::unavailable}};
  for (const auto& [known, code] : kCodes) {
    if (known == status) error.code = code;
  }
  if (status >= 500) error.upstream_code = "server_error";
  return error;
}

}  // namespace callgate::script
