// The scripted model as `codex proto` tells of it. Codex runs tools itself here: a call is a command that it ran.
//
//   {"id":"1","msg":{"type":"agent_message_delta","delta":"Hi"}}
#pragma once

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kCodexProtoReply;

}  // namespace callgate::script
