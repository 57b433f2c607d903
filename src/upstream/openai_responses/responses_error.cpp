#include "upstream/openai_responses/responses_error.h"

#include <array>

#include "json/member.h"
#include "upstream/openai_chat/openai_error.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

struct ResponsesErrorRow {
  std::string_view word;
  ErrorCode code;
};

constexpr std::array<ResponsesErrorRow, 8> kCodes = {{
    {"bio_policy", ErrorCode::invalid_request},
    {"image_file_not_found", ErrorCode::invalid_request},
    {"image_too_large", ErrorCode::invalid_request},
    {"invalid_image", ErrorCode::invalid_request},
    {"invalid_prompt", ErrorCode::invalid_request},
    {"server_is_overloaded", ErrorCode::unavailable},
    {"slow_down", ErrorCode::unavailable},
    {"vector_store_timeout", ErrorCode::timed_out},
}};

}  // namespace

Error decode_responses_error(int status, std::string_view json) {
  const std::string_view inner = json::given_member(json, "error");
  Error error = decode_openai_error(status, inner.empty() ? json : inner);
  // The type of the event, not of the error.
  if (error.type == "error") error.type.clear();
  if (error.status == 0) {
    for (const ResponsesErrorRow& row : kCodes) {
      if (row.word == error.upstream_code) error.code = row.code;
    }
  }
  if (error.upstream_code == "invalid_api_key") {
    error.message = "the upstream refused callgate's key";
  }
  return error;
}

}  // namespace callgate::upstream
