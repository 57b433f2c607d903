// Batch parsers of the dialects, for tests: slow, simple, written from the grammar alone. The whole turn is in memory, so
// nothing here knows about pushes, held back bytes or limits. What a dialect's parser says must be what its reference says.
#pragma once

#include <span>
#include <string_view>

#include "callgate/request.h"
#include "chat/event_log.h"

namespace callgate::dialect::reference {

struct ReferenceCase {
  std::string_view text;
  std::span<const ToolSpec> tools;
  bool reasoning_open = false;  // the prompt opened the reasoning
  bool cut_off = false;         // the upstream did not end the turn normally
};

// Writes the turn's events, as an eager parser would. False: no opinion on this turn, the log is worth nothing.
using Reference = bool (*)(const ReferenceCase& turn, EventLog& log);

// nullptr: there is none.
Reference find_reference(std::string_view dialect);

}  // namespace callgate::dialect::reference
