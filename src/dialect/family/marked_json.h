// The family that writes calls as JSON behind a marker, or bare:
//
//   <tool_call>\n{"name": "f", "arguments": {"city": "Paris"}}\n</tool_call>
//   [TOOL_CALLS] [{"name": "f", "arguments": {"city": "Paris"}, "id": "123456789"}]
//   {"name": "f", "parameters": {"city": "Paris"}}; {"name": "g", "parameters": {}}
//
// One object, several, or an array of them. Where only the shape tells a call (Opener::Names::declared) and it turns
// out not to be one, the whole JSON value is text.
#pragma once

#include <memory>

#include "callgate/dialect.h"
#include "dialect/family/call_object.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

// REQUIRES: `prose` and `keys` have static storage.
std::unique_ptr<CallReader> make_marked_json(const Prose& prose, const CallKeys& keys,
                                             const DialectOptions& options);

}  // namespace callgate::dialect
