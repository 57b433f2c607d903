// OpenAI Chat Completions as an upstream speaks it, with the liberties that compatible servers take.
//
//   data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
//     "delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"find",
//     "arguments":"{\"q\":"}}]},"finish_reason":null}]}
//   data: [DONE]
#pragma once

#include <memory>
#include <span>
#include <string>

#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

extern const WireFormat kOpenaiChat;

std::span<const RequestField> openai_chat_fields();

}  // namespace callgate::upstream
