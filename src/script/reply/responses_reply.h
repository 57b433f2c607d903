// The scripted model in the openai_responses wire format:
//   event: response.output_text.delta
//   data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_0","output_index":0,"content_index":0,
//          "delta":"Hi","logprobs":[]}
#pragma once

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kResponsesReply;

}  // namespace callgate::script
