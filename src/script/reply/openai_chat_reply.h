// The openai_chat wire format as a model server writes it, faults included:
//   data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
//          "delta":{"content":"Hi"},"finish_reason":null}]}
//
//   data: [DONE]
#pragma once

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kOpenAiChatReply;

}  // namespace callgate::script
