// The messages of a canonical request as the Messages API wants them: system prompts apart, user and assistant in turn,
// the results of calls first in the user message that follows the calls.
//
//   {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"42"},{"type":"text","text":"?"}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

struct AnthropicConversation {
  std::string system;    // a JSON array of blocks, empty when there are none
  std::string messages;  // a JSON array
  std::vector<DroppedField> dropped;
};

AnthropicConversation encode_anthropic_conversation(const std::vector<Message>& messages);

// The API takes letters, digits, `_` and `-`. Other ids, such as functions.find:0, are written in a form that is unique
// for each: cg_functions_2efind_3a0.
std::string anthropic_call_id(std::string_view id);

}  // namespace callgate::upstream
