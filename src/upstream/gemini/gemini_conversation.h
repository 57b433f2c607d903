// The messages of a canonical request as GenerateContent wants them: system prompts apart, user and model in turn, the
// results of calls first in the content that follows the calls, in the order of the calls.
//
//   {"role":"user","parts":[{"functionResponse":{"name":"find","response":{"output":"42"}}},{"text":"And now?"}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

struct GeminiConversation {
  std::string system;    // JSON of a content, empty when there is none
  std::string contents;  // a JSON array
  std::vector<DroppedField> dropped;
};

// Results and signatures are written as that model wants them.
GeminiConversation encode_gemini_conversation(const std::vector<Message>& messages,
                                              std::string_view model, std::string_view origin = {});

}  // namespace callgate::upstream
