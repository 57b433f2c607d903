// The scripted model in the gemini wire format, as frames or, where the caller asks without alt=sse, as one array:
//   data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0}],"usageMetadata":{...}}
#pragma once

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kGeminiReply;

}  // namespace callgate::script
