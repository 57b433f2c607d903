// How many tokens a request may have, where nobody counts them: system prompt, messages and tools. Text has three and a half
// characters of ASCII to a token and one character of other scripts, which is rather too much than too little; images and files
// have a count of their own. Linear in the size of the request.
#pragma once

#include <cstdint>

#include "callgate/request.h"

namespace callgate {

std::int64_t estimate_tokens(const Request& request);

}  // namespace callgate
