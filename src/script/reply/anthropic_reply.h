// The scripted model in the anthropic_messages wire format:
//   event: content_block_delta
//   data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
#pragma once

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kAnthropicReply;

}  // namespace callgate::script
