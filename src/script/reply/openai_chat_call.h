// One element of `tool_calls` in the openai_chat wire format, with the faults that it can have:
//   {"index":0,"id":"call_1","type":"function","function":{"name":"find","arguments":""}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "script/fault.h"

namespace callgate::script {

struct CallDelta {
  CallIndex call = 0;
  std::uint32_t number = 0;  // of this delta in its call, from 0
  bool streamed = true;      // in a whole answer a call has no index
  std::string_view id;
  std::optional<std::string_view> name;
  std::optional<std::string_view> arguments;
};

void append_call_delta(std::string& out, const CallDelta& delta, const Faults& faults);

// The value of the deprecated `function_call`: {"name":"find","arguments":""}
void append_function(std::string& out, const CallDelta& delta, const Faults& faults);

}  // namespace callgate::script
