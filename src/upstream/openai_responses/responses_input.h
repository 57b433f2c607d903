// The messages of a canonical request as `input` of a Responses request: an array of items in their order.
//
//   {"type":"message","role":"user","content":[{"type":"input_text","text":"Find tea"}]}
//   {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}
//   {"type":"function_call","call_id":"call_1","name":"find","arguments":"{\"q\":\"tea\"}"}
//   {"type":"function_call_output","call_id":"call_1","output":"3 results"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

struct ResponsesInput {
  std::string items;  // a JSON array
  std::vector<DroppedField> dropped;
};

ResponsesInput encode_responses_input(const Request& request);

// The API takes ids of up to 64 bytes. A longer one is written as a digest, the same each time.
std::string responses_call_id(std::string_view id);

}  // namespace callgate::upstream
