#include "upstream/codex/codex_error.h"

#include <array>
#include <charconv>
#include <optional>

#include "json/member.h"
#include "upstream/codex/codex_line.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream {
namespace {

struct CodexRow {
  std::string_view word;
  int status;
};
constexpr std::array<CodexRow, 12> kCodexWords = {{
    {"badRequest", 400},
    {"contextWindowExceeded", 400},
    {"cyberPolicy", 400},
    {"unauthorized", 401},
    {"modelNotFound", 404},
    {"rateLimitExceeded", 429},
    {"sessionBudgetExceeded", 429},
    {"usageLimitExceeded", 429},
    {"internalServerError", 500},
    {"flexUnavailable", 503},
    {"policyCapacityUnavailable", 503},
    {"serverOverloaded", 503},
}};

int number_at(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number >= 400 && number < 600 ? number : 0;
}

// The first number after the word `status`, if it is near.
int status_in_message(std::string_view message) {
  const std::size_t word = message.find("status");
  if (word == std::string_view::npos) return 0;
  const std::size_t digit = message.find_first_of("0123456789", word);
  if (digit == std::string_view::npos || digit > word + 10) return 0;
  return number_at(message.substr(digit));
}

// `{"httpConnectionFailed":{"httpStatusCode":401}}` or `"usageLimitExceeded"`.
void read_kind(std::string_view json, std::string& kind, int& status) {
  json::Reader in(json);
  if (json.empty()) return;
  if (in.peek() == json::Kind::string) {
    kind = in.string();
    for (const CodexRow& row : kCodexWords) {
      if (row.word == kind) status = row.status;
    }
  } else if (in.peek() == json::Kind::object) {
    for (std::string_view key; in.next_member(key);) {
      kind = key;
      status = number_at(json::member_json(in.raw(), "httpStatusCode"));
    }
  }
}

}  // namespace

Error decode_codex_error(std::string_view json) {
  if (const std::string_view inner = json::member_json(json, "error"); !inner.empty()) json = inner;
  std::string kind;
  int status = 0;
  read_kind(json::member_json(json, "codexErrorInfo"), kind, status);
  const std::string message = any_member_text(json, "message");
  if (status == 0) status = status_in_message(message);
  // The status says what the caller can do, the same for every wire format.
  Error error = decode_openai_error(status, {});
  // What codex says about a refused key may quote it.
  if (status != 401) error.message = message.empty() ? "codex failed without saying why" : message;
  if (status == 0) error.code = ErrorCode::upstream_failed;
  error.type = {};
  error.upstream_code = kind;
  return error;
}

}  // namespace callgate::upstream
