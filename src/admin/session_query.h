// Sessions in the admin API: what is asked for, and the JSON that answers it.
//
//   GET /v1/sessions?model=m&limit=10
//   {"object":"list","data":[{"id":"sess_1","object":"session","model":"m",...}],"has_more":false,"next_cursor":null}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "store/session.h"

namespace callgate::server {

// The answers that GET /v1/sessions/ID shows.
inline constexpr std::size_t kMostAnswers = 1000;

// The parameters of GET /v1/sessions. invalid_request names the one at fault.
Result<store::SessionFilter> read_session_filter(std::string_view query);

std::string print_sessions(const store::SessionPage& page);
std::string print_session(const store::Session& session,
                          const std::vector<store::SessionAnswer>& answers);
std::string print_deleted_session(std::string_view id);

Error no_session(std::string_view id);

}  // namespace callgate::server
