// A folded turn as events again, for wire formats whose whole answers are made of the frames of a streamed one.
#pragma once

#include "base/function_ref.h"
#include "chat/event_log.h"

namespace callgate::script {

void replay_log(const EventLog& log, FunctionRef<void(const Event&)> emit);

}  // namespace callgate::script
