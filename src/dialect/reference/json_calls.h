// Calls that are JSON objects, alone, one behind the other or in a list, for references:
//
//   <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>
//   <TOOLCALL>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]</TOOLCALL>
#pragma once

#include "dialect/reference/turn.h"

namespace callgate::dialect::reference {

struct CallShape {
  std::string_view id_key = {};  // empty: no ids
  bool name_is_key = false;      // {"f": {"a": 1}}
};

// `at` is behind the opener, or at the bracket with which the opener ends.
Reading read_json_calls(const ReferenceCase& turn, const CallOpener& opener, std::size_t at,
                        const CallShape& shape);

// Arguments that are an object from `at` on, in a dialect that writes the name before them. The call gets its arguments
// and outcome; the end is behind the value. False: broken JSON, no opinion.
bool read_arguments(std::string_view text, std::size_t at, LoggedCall& call, std::size_t& end);

}  // namespace callgate::dialect::reference
