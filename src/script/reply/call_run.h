// Calls that follow one another in a turn, as events in the order that the faults ask for.
#pragma once

#include <string>
#include <vector>

#include "base/function_ref.h"
#include "callgate/event.h"
#include "script/cut.h"
#include "script/fault.h"
#include "script/part.h"

namespace callgate::script {

struct PlannedCall {
  CallIndex index = 0;
  Call call;  // with its id
};

void emit_calls(const std::vector<PlannedCall>& calls, const Cut& cut, const Faults& faults,
                FunctionRef<void(const Event&)> emit);

}  // namespace callgate::script
