#include "script/script.h"

#include <algorithm>

#include "base/glob.h"
#include "script/message_text.h"

namespace callgate::script {

namespace {

ToolChoice::Mode mode_of(const Request& request) {
  const ToolChoice::Mode mode = request.tool_choice.mode;
  return mode == ToolChoice::Mode::unset ? ToolChoice::Mode::automatic : mode;
}

}  // namespace

bool Condition::matches(const Request& request) const {
  if (!model.empty() && !glob_matches(model, request.model)) return false;
  if (stream && *stream != request.stream) return false;
  if (tools && *tools == request.tools.empty()) return false;
  if (tool_choice && *tool_choice != mode_of(request)) return false;
  if (last_role && (request.messages.empty() || request.messages.back().role != *last_role)) {
    return false;
  }
  if (turn_from || turn_to) {
    const std::uint32_t turn = turn_number(request);
    if (turn_from && turn < *turn_from) return false;
    if (turn_to && turn > *turn_to) return false;
  }
  return std::all_of(contains.begin(), contains.end(), [&](const Contains& wanted) {
    return last_text(request, wanted.role).find(wanted.text) != std::string::npos;
  });
}

}  // namespace callgate::script
