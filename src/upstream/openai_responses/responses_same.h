// A Responses request of a client that speaks Responses: its own body, with what callgate changed in place. Members and items that
// callgate does not know pass as they came, and so does the order of everything, which prompt caches depend on.
#pragma once

#include <string>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// `canonical`: the body that the members of the request alone give.
std::string same_format_body(const Request& request, const EncodeOptions& options,
                             const std::string& canonical);

}  // namespace callgate::upstream
