// The messages of a request that came in another protocol, for servers that take what Chat Completions documents and refuse the
// rest: results are text alone, and what was sealed by another issuer stays here.
//
//   tool: [text, image]   ->   tool: text;  user: [image]      the image follows the results
#pragma once

#include <string>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// Appends a JSON array.
void append_foreign_messages(std::string& out, const std::vector<Message>& messages,
                             std::vector<DroppedField>& dropped);

}  // namespace callgate::upstream
