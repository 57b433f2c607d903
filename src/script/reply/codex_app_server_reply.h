// The scripted model as `codex app-server` tells of it. Lines have no `threadId` and `turnId`: whoever plays them for a
// thread adds these. A reply with calls ends behind them, as codex does while it waits for their results.
#pragma once

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kCodexAppServerReply;

}  // namespace callgate::script
