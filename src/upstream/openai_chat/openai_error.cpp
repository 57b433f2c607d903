#include "upstream/openai_chat/openai_error.h"

#include <array>
#include <charconv>
#include <string>

#include "base/utf8.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxQuoted = 300;

struct Fields {
  std::string message;
  std::string type;
  std::string code;
  std::string param;
};

// A string, or a number as text; anything else is skipped.
void read_scalar(json::Reader& in, std::string& value) {
  switch (in.peek()) {
    case json::Kind::string:
      if (const std::string_view text = in.string(); !text.empty()) value = text;
      return;
    case json::Kind::number:
      value = in.number();
      return;
    case json::Kind::object:
    case json::Kind::array:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      in.skip();
      return;
  }
}

void read_error(json::Reader& in, Fields& fields);

bool is_message(std::string_view key) {
  return key == "message" || key == "msg" || key == "detail" || key == "error_message" ||
         key == "error_msg" || key == "status_msg" || key == "errmsg" || key == "ErrorMsg" ||
         key == "Message" || key == "faultstring" || key == "reason";
}

void read_error_member(json::Reader& in, std::string_view key, Fields& fields) {
  if (key == "error" || key == "errors" || key == "Error" || key == "Response" || key == "fault" ||
      key == "base_resp" || key == "header" || key == "exception" || key.ends_with("Exception")) {
    read_error(in, fields);
  } else if (is_message(key)) {
    const bool structured = in.peek() == json::Kind::array || in.peek() == json::Kind::object;
    if (structured) {
      fields.message = in.raw();
    } else {
      read_scalar(in, fields.message);
    }
  } else if (key == "type" || key == "__type") {
    read_scalar(in, fields.type);
  } else if (key == "code" || key == "error_code" || key == "status_code" || key == "statusCode" ||
             key == "errno" || key == "ErrorCode" || key == "Code") {
    read_scalar(in, fields.code);
  } else if (key == "param") {
    read_scalar(in, fields.param);
  } else {
    in.skip();
  }
}

void read_error(json::Reader& in, Fields& fields) {
  switch (in.peek()) {
    case json::Kind::object:
      for (std::string_view key; in.next_member(key);) read_error_member(in, key, fields);
      return;
    case json::Kind::array:
      while (in.next_element()) read_error(in, fields);
      return;
    case json::Kind::string:
      fields.message = in.string();
      return;
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      in.skip();
      return;
  }
}

int status_of_code(const std::string& code) {
  int status = 0;
  const auto [end, fault] = std::from_chars(code.data(), code.data() + code.size(), status);
  const bool whole = fault == std::errc() && end == code.data() + code.size();
  return whole && status >= 400 && status < 600 ? status : 0;
}

// Words that servers put into `type` or `code` when no status says what kind of failure it is.
ErrorCode code_of_word(std::string_view word) {
  struct Row {
    std::string_view word;
    ErrorCode code;
  };
  static constexpr std::array<Row, 14> kWords = {{
      {"Throttling", ErrorCode::rate_limited},
      {"Throttling.RateQuota", ErrorCode::rate_limited},
      {"Throttling.AllocationQuota", ErrorCode::rate_limited},
      {"InvalidParameter", ErrorCode::invalid_request},
      {"rate_limit_exceeded", ErrorCode::rate_limited},
      {"rate_limit_error", ErrorCode::rate_limited},
      {"insufficient_quota", ErrorCode::rate_limited},
      {"tokens", ErrorCode::rate_limited},
      {"invalid_request_error", ErrorCode::invalid_request},
      {"BadRequestError", ErrorCode::invalid_request},
      {"context_length_exceeded", ErrorCode::invalid_request},
      {"overloaded_error", ErrorCode::unavailable},
      {"model_not_found", ErrorCode::not_found},
      {"timeout", ErrorCode::timed_out},
  }};
  for (const Row& row : kWords) {
    if (row.word == word) return row.code;
  }
  return ErrorCode::upstream_failed;
}

std::string quoted(int status, std::string_view body) {
  std::string message = "upstream answered";
  if (status != 0) {
    message += " with status ";
    json::append_integer(message, status);
  }
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return message + " and no explanation";
  if (body[first] == '<')
    return message + (status != 0 ? " and" : " with") + " a page instead of JSON";
  message += ": ";
  utf8::append_sanitized(message, body.substr(first, kMaxQuoted));
  return message;
}

}  // namespace

ErrorCode code_of_status(int status) {
  switch (status) {
    case 400:
    case 422:
      return ErrorCode::invalid_request;
    case 404:
      return ErrorCode::not_found;
    case 408:
    case 504:
      return ErrorCode::timed_out;
    case 409:
      return ErrorCode::conflict;
    case 413:
      return ErrorCode::too_large;
    case 429:
      return ErrorCode::rate_limited;
    case 503:
    case 529:
      return ErrorCode::unavailable;
    default:
      return ErrorCode::upstream_failed;
  }
}

Error decode_openai_error(int status, std::string_view json) {
  Fields fields;
  json::Reader in(json);
  read_error(in, fields);
  if (!in.finish()) fields = {};

  Error error{.message = std::move(fields.message),
              .param = std::move(fields.param),
              .type = std::move(fields.type),
              .upstream_code = std::move(fields.code)};
  error.status = status != 0 ? status : status_of_code(error.upstream_code);
  error.code = code_of_status(error.status);
  if (error.status == 0) error.code = code_of_word(error.upstream_code);
  if (error.status == 0 && error.code == ErrorCode::upstream_failed) {
    error.code = code_of_word(error.type);
  }
  // The key is callgate's, not the caller's: its refusal does not concern the caller, and may quote it.
  if (error.status == 401) error.message = "the upstream refused callgate's key";
  if (error.message.empty()) error.message = quoted(status, json);
  return error;
}

}  // namespace callgate::upstream
