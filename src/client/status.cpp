#include "client/protocol.h"

namespace callgate::client {
namespace {

int status_of_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
      return 400;
    case ErrorCode::unauthenticated:
      return 401;
    case ErrorCode::forbidden:
      return 403;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::not_allowed:
      return 405;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::rate_limited:
      return 429;
    case ErrorCode::upstream_failed:
      return 502;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::timed_out:
      return 504;
    case ErrorCode::internal:
      return 500;
  }
  return 500;
}

// 401 and 403 are left out: the upstream refused callgate's key, not the caller's.
bool caller_can_act_on(int upstream_status) {
  switch (upstream_status) {
    case 400:
    case 404:
    case 408:
    case 409:
    case 413:
    case 414:
    case 415:
    case 422:
    case 429:
    case 431:
    case 503:
    case 529:
      return true;
    default:
      return false;
  }
}

}  // namespace

int status_of(const Error& error) {
  return caller_can_act_on(error.status) ? error.status : status_of_code(error.code);
}

}  // namespace callgate::client

namespace callgate {

int Protocol::status_of(const Error& error) const {
  return status == nullptr ? client::status_of(error) : status(error);
}

}  // namespace callgate
