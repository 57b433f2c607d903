// How far a text is from what the models of a dialect would have written for a call.
#pragma once

#include <string_view>

#include "callgate/dialect.h"
#include "chat/event_log.h"

namespace callgate::replay {

// 0: it is just that, 1: but for white space, 2: it differs by more.
int distance(const Dialect& dialect, const LoggedCall& call, std::string_view said);

}  // namespace callgate::replay
