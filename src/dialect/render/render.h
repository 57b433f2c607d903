// The inverse of a dialect: calls -> the text in which a model writes them. For prompts that show earlier calls, for
// demo models and for tests.
//
//   hermes, get_weather {"city": "Paris"}:
//     <tool_call>
//     {"name": "get_weather", "arguments": {"city": "Paris"}}
//     </tool_call>
//
// The dialect's parser reads the same calls from it, given the tools' schemas. What a dialect has no means to say:
//  - an id where the dialect has none. kimi_k2 has functions.NAME:INDEX alone, which replaces any other id.
//  - tagged dialects that write no types (all but deepseek_v32, deepseek_v4, kimi_k3): a value that is not a string where
//    the schema says nothing or string, and the text "null" where it says string or null.
//  - tagged dialects: a string with a close marker inside and behind it what may follow one. A whole call shown in a
//    string is fine.
//  - python dialects: a name of an argument that is not an identifier. generic_xml, use_tool, minimax_m3: one that is not a
//    tag's name. Names with white space, quotes or markers in a dialect that writes them bare.
//  - half a surrogate pair where strings are written without JSON's escapes: it becomes U+FFFD.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"

namespace callgate::dialect {

// Appends the calls as a model of that dialect writes them in one turn. False, with `out` as it was: there is no such
// dialect, it writes no text (native, auto), or the arguments of a call are neither empty nor a JSON object.
bool render_calls(std::string_view dialect, std::span<const CallRecord> calls, std::string& out);

// Whether render_calls() knows the dialect.
bool writes_calls_as_text(std::string_view dialect);

}  // namespace callgate::dialect
