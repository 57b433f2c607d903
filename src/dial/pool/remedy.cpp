#include "dial/pool/remedy.h"

#include <algorithm>

#include "base/memory_budget.h"
#include "base/text.h"
#include "compress/content_decoder.h"
#include "net/client.h"
#include "session/conversation_claims.h"

namespace callgate::server {
namespace {

bool is_lasting(const Error& error) {
  return error.upstream_code == compress::kUnsupportedCoding ||
         error.upstream_code == compress::kTooDense ||
         error.upstream_code == net::kCertificateRefused;
}

bool refuses_key(const Error& error) { return error.status == 401 || error.status == 403; }

}  // namespace

std::string_view to_string(Trouble trouble) {
  switch (trouble) {
    case Trouble::slow:
      return "slow";
    case Trouble::failure:
      return "failure";
    case Trouble::cut:
      return "cut";
    case Trouble::silence:
      return "silence";
  }
  return "";
}

Remedy remedy_for(const Error& error) {
  if (error.upstream_code == kOutOfMemory) return Remedy::none;
  // callgate's own key was refused
  if (refuses_key(error)) return Remedy::elsewhere;
  switch (error.code) {
    case ErrorCode::rate_limited:
      return error.upstream_code == "insufficient_quota" ? Remedy::elsewhere : Remedy::later;
    case ErrorCode::upstream_failed:
      return is_lasting(error) ? Remedy::elsewhere : Remedy::later;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return Remedy::later;
    case ErrorCode::conflict:
      return error.upstream_code == kConversationBusy ? Remedy::none : Remedy::later;
    case ErrorCode::unauthenticated:
    case ErrorCode::forbidden:
    case ErrorCode::not_found:
    case ErrorCode::not_allowed:
    case ErrorCode::too_large:
    case ErrorCode::internal:
      return Remedy::elsewhere;
    case ErrorCode::invalid_request:
      return Remedy::none;
  }
  return Remedy::none;
}

std::optional<Trouble> trouble_of(const Error& error, bool began) {
  const Trouble broken = began ? Trouble::cut : Trouble::failure;
  if (error.upstream_code == kOutOfMemory) return std::nullopt;
  if (refuses_key(error)) return Trouble::failure;
  switch (error.code) {
    case ErrorCode::timed_out:
      return began ? Trouble::cut : Trouble::silence;
    case ErrorCode::upstream_failed:
    case ErrorCode::unavailable:
    case ErrorCode::internal:
    case ErrorCode::unauthenticated:
    case ErrorCode::forbidden:
    case ErrorCode::not_allowed:
      return broken;
    case ErrorCode::rate_limited:
      if (error.upstream_code == "insufficient_quota") return Trouble::failure;
      return std::nullopt;
    case ErrorCode::conflict:
    case ErrorCode::not_found:
    case ErrorCode::too_large:
    case ErrorCode::invalid_request:
      return std::nullopt;
  }
  return std::nullopt;
}

// In seconds; dates and nonsense count as "not said".
std::optional<Milliseconds> named_pause(const Error& error) {
  const auto seconds = saturated_number(error.retry_after);
  if (!seconds) return std::nullopt;
  constexpr std::uint64_t kLongest = 365ull * 86'400;
  return Milliseconds(std::min(*seconds, kLongest) * 1000);
}

// A request that is wrong can be corrected, a limit says when to come back, what is down may be up again soon. What only
// the operator can mend comes last.
int usefulness(const Error& error) {
  if (remedy_for(error) == Remedy::none) return 6;
  if (refuses_key(error) || is_lasting(error)) return 1;
  switch (error.code) {
    case ErrorCode::rate_limited:
      return error.upstream_code == "insufficient_quota" ? 1 : 5;
    case ErrorCode::unavailable:
    case ErrorCode::upstream_failed:
    case ErrorCode::timed_out:
    case ErrorCode::conflict:
      return 4;
    case ErrorCode::too_large:
      return 3;
    case ErrorCode::not_found:
    case ErrorCode::not_allowed:
      return 2;
    case ErrorCode::internal:
    case ErrorCode::unauthenticated:
    case ErrorCode::forbidden:
      return 1;
    case ErrorCode::invalid_request:
      return 6;
  }
  return 0;
}

}  // namespace callgate::server
