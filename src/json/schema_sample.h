// Arguments that a JSON schema accepts, made up from it:
//   {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 2}},
//    "required": ["city", "days"]}
//   "Weather in Paris?"  ->  {"city":"Paris","days":2}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate::json {

// Required properties, and optional ones that have a default, an example or a constant. Honours type, enum, const,
// default (but null), examples, bounds of numbers, lengths of strings and arrays, common formats, local $ref, allOf, and the
// first branch of anyOf and oneOf. Not `pattern`. Strings come from the words of `text`, from number `first_word`
// on, or are the property's name. Total: an empty or odd schema gives {}.
std::string sample_arguments(std::string_view schema, std::string_view text,
                             std::size_t first_word = 0);

// One value that `schema`, a part of `root`, accepts. A string that nothing says more about is `name`.
std::string sample_value(std::string_view root, std::string_view schema, std::string_view name);

}  // namespace callgate::json
