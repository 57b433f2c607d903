// The `openai_responses` wire format: POST /responses, and nothing kept by the upstream between requests.
//
//   event: response.output_text.delta
//   data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi"}
#pragma once

#include <span>
#include <string_view>

#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

extern const WireFormat kOpenaiResponses;

std::span<const RequestField> responses_fields();

}  // namespace callgate::upstream
