#include "upstream/qwen_web/qwen_web_error.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/utf8.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxQuotedPage = 300;
constexpr std::string_view kMarks[] = {"FAIL_SYS_USER_VALIDATE", "RGV587"};

struct QwenWebFields {
  std::string code;
  std::string details;
  std::int64_t hours = 0;
};

struct QwenWebRow {
  std::string_view word;
  ErrorCode code;
  int status;
};
constexpr std::array<QwenWebRow, 11> kQwenWebWords = {{
    {"Too_Many_Requests", ErrorCode::rate_limited, 429},
    {"RateLimited", ErrorCode::rate_limited, 429},
    {"ContextLengthExceeded", ErrorCode::invalid_request, 400},
    {"Bad_Request", ErrorCode::invalid_request, 400},
    {"InvalidParameter", ErrorCode::invalid_request, 400},
    {"Not_Found", ErrorCode::not_found, 404},
    {"NotFound", ErrorCode::not_found, 404},
    {"unauthorized", ErrorCode::upstream_failed, 401},
    {"Unauthorized", ErrorCode::upstream_failed, 401},
    {"Forbidden", ErrorCode::upstream_failed, 403},
    {"Service_Unavailable", ErrorCode::unavailable, 503},
}};

// `error` and `data` hold what matters, or the object itself does.
void read_fields(json::Reader& in, QwenWebFields& fields, int depth) {
  if (in.peek() != json::Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    const json::Kind kind = in.peek();
    const bool is_text = kind == json::Kind::string;
    if ((key == "error" || key == "data") && kind == json::Kind::object && depth < 2) {
      read_fields(in, fields, depth + 1);
    } else if (key == "code" && is_text) {
      fields.code = in.string();
    } else if ((key == "details" || key == "detail" || key == "message" || key == "error") &&
               is_text) {
      fields.details = in.string();
    } else if (key == "num" && kind == json::Kind::number) {
      fields.hours = in.integer().value_or(0);
    } else {
      in.skip();
    }
  }
}

std::string quoted_page(int status, std::string_view body) {
  std::string message = "upstream answered";
  if (status != 0) {
    message += " with status ";
    json::append_integer(message, status);
  }
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return message + " and no explanation";
  message += ": ";
  utf8::append_sanitized(message, body.substr(first, kMaxQuotedPage));
  return message;
}

Error bot_check(int status, std::string_view body) {
  Error error{.code = ErrorCode::unavailable,
              .message =
                  "the upstream's bot check stopped callgate: renew the cookie and the bx-* "
                  "headers of this upstream",
              .type = "bot_check",
              // Another try would only be stopped again.
              .status = status >= 400 && status != 503 ? status : 403};
  for (const std::string_view mark : kMarks) {
    if (error.upstream_code.empty() && body.find(mark) != std::string_view::npos) {
      error.upstream_code = mark;
    }
  }
  return error;
}

}  // namespace

bool is_bot_check(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && body[first] == '<') return true;
  for (const std::string_view mark : kMarks) {
    if (body.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

Error decode_qwen_web_error(int status, std::string_view body) {
  if (is_bot_check(body)) return bot_check(status, body);
  QwenWebFields fields;
  json::Reader in(body);
  read_fields(in, fields, 0);
  if (!in.finish()) fields = {};

  Error error{.message = std::move(fields.details), .upstream_code = std::move(fields.code)};
  error.status = status >= 400 ? status : 0;
  error.code = code_of_status(error.status);
  for (const QwenWebRow& row : kQwenWebWords) {
    if (error.status != 0 || row.word != error.upstream_code) continue;
    error.status = row.status;
    error.code = row.code;
  }
  if (fields.hours > 0) {
    constexpr std::int64_t kYear = 24 * 365;
    error.retry_after = std::to_string(std::min(fields.hours, kYear) * 3600);
  }
  if (error.status == 401 || error.status == 403) {
    error.message = "the upstream refused callgate's credentials";
  }
  if (error.message.empty() && !error.upstream_code.empty()) {
    error.message = "upstream answered with the error " + error.upstream_code;
  }
  if (error.message.empty()) error.message = quoted_page(status, body);
  return error;
}

}  // namespace callgate::upstream
