// What went wrong in the world outside (caller, upstream, disk), as a value. Library functions that can fail return a
// Result (callgate/result.h) and never throw one of these. Odd model output is not an Error: it is an event.
#pragma once

#include <cstdint>
#include <string>

namespace callgate {

// Named for what the caller can do about it. The client module maps each to a status and a body.
enum class ErrorCode : std::uint8_t {
  invalid_request,  // correct the request
  unauthenticated,  // send a valid key
  forbidden,        // use a key that may do this
  not_found,        // ask for something that exists
  not_allowed,      // use another method
  conflict,         // wait for the other request on the same thing
  too_large,        // send less
  rate_limited,     // wait, then retry
  upstream_failed,  // retry; the model server answered with a failure or with nonsense
  unavailable,      // retry later; nothing can serve this now
  timed_out,        // retry; something took longer than its limit
  internal,         // report it; callgate is wrong
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // reads like directions: what was found, what was expected
  std::string param;    // the request field at fault, such as `messages[3].role`; may be empty
  std::string type;     // the upstream's own error type, kept verbatim; may be empty
  std::string upstream_code;  // the upstream's own error code, kept verbatim; may be empty
  int status = 0;             // the upstream's HTTP status, 0 when there was none
  std::string retry_after;    // the upstream's retry-after header, verbatim; may be empty
  // The id of the request that it answers, for protocols that say so in the body; set where it is written.
  std::string request_id = {};
};

}  // namespace callgate
