// The ids of sessions: sess_ and 24 letters and digits, which sort by time.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace callgate::server {

std::string mint_session(IdMint& mint);
// Whether callgate may have made it.
bool is_session_id(std::string_view text);

}  // namespace callgate::server
