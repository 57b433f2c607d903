#include "upstream/gemini/gemini_error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "json/reader.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream {
namespace {

struct Details {
  std::string status;  // such as RESOURCE_EXHAUSTED
  std::string reason;  // such as API_KEY_INVALID
  std::string retry_delay;
};

void read_text(json::Reader& in, std::string& text) {
  if (in.peek() == json::Kind::string) {
    text = in.string();
  } else {
    in.skip();
  }
}

void read_details(json::Reader& in, Details& details) {
  while (in.next_element()) {
    if (in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view key; in.next_member(key);) {
      if (key == "retryDelay") {
        read_text(in, details.retry_delay);
      } else if (key == "reason") {
        read_text(in, details.reason);
      } else {
        in.skip();
      }
    }
  }
}

void read_gemini_error(json::Reader& in, Details& details) {
  if (in.peek() == json::Kind::array) {
    while (in.next_element()) read_gemini_error(in, details);
    return;
  }
  if (in.peek() != json::Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    if (key == "error") {
      read_gemini_error(in, details);
    } else if (key == "status") {
      read_text(in, details.status);
    } else if (key == "details" && in.peek() == json::Kind::array) {
      read_details(in, details);
    } else {
      in.skip();
    }
  }
}

// 28s, 3.5s -> whole seconds
std::string seconds_of(std::string_view delay) {
  constexpr double kDay = 86'400;
  double seconds = 0;
  const auto [end, fault] = std::from_chars(delay.data(), delay.data() + delay.size(), seconds);
  if (fault == std::errc::result_out_of_range) seconds = kDay;
  const bool read = fault == std::errc() || fault == std::errc::result_out_of_range;
  const bool whole = read && std::string_view(end, delay.data() + delay.size()) == "s";
  if (!whole || !(seconds >= 0)) return {};
  return std::to_string(static_cast<int>(std::ceil(std::min(seconds, kDay))));
}

}  // namespace

Error decode_gemini_error(int status, std::string_view json) {
  Error error = decode_openai_error(status, json);
  Details details;
  json::Reader in(json);
  read_gemini_error(in, details);
  if (!in.finish()) return error;
  if (error.type.empty()) error.type = details.status;
  error.retry_after = seconds_of(details.retry_delay);
  // The key is callgate's, not the caller's.
  if (details.reason == "API_KEY_INVALID" || details.status == "UNAUTHENTICATED") {
    error.status = 401;
    error.code = code_of_status(error.status);
    error.message = "the upstream refused callgate's key";
  }
  return error;
}

}  // namespace callgate::upstream
