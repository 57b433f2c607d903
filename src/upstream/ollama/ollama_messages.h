// The messages of a canonical request as /api/chat wants them: content as one text, images in base64 beside it, arguments
// as objects.
//
//   {"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"name":"find","arguments":{"q":"tea"}}}]}
//   {"role":"tool","content":"42","tool_name":"find","tool_call_id":"call_1"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// Appends a JSON array. Servers before 0.12.10 ignore ids and match results by their order: the results after a message
// with calls leave in the order of the calls. `as_written`: the messages of a client of this format, a JSON array; those that
// still say the same leave byte for byte.
void append_ollama_messages(std::string& out, const std::vector<Message>& messages,
                            std::vector<DroppedField>& dropped, std::string_view as_written = {});

}  // namespace callgate::upstream
