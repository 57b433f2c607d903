// Reasoning items as a client can send them back: the parts of an item are reported together, and share its id.
//
//   [{"type":"reasoning.summary","summary":"Look it up.","id":"rs_1","format":"openai-responses-v1","index":0},
//    {"type":"reasoning.encrypted","data":"gAAA","id":"rs_1","format":"openai-responses-v1","index":0}]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/openai_responses/responses_frame.h"

namespace callgate::upstream {

// `format` of the reasoning_details that this wire format reports and takes back.
inline constexpr std::string_view kResponsesReasoning = "openai-responses-v1";

// Empty when the item cannot be sent back: it is neither sealed nor does it show its text.
std::string reasoning_details_of(const ResponsesItem& item, std::size_t index);

// A reasoning item made from the details of a message.
struct ReasoningParam {
  std::string json;
  std::int64_t index = 0;  // where it stood among the items of its answer
};
std::vector<ReasoningParam> reasoning_items(const Message& message);

}  // namespace callgate::upstream
