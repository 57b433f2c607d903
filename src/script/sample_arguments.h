// Arguments that a JSON schema accepts, made up from it:
//   {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 2}},
//    "required": ["city", "days"]}
//   "Weather in Paris?"  ->  {"city":"Paris","days":2}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate::script {

// Required properties, and optional ones that have a default, an example or a constant. Honours type, enum, const,
// default, examples, bounds of numbers, lengths of strings and arrays, common formats, local $ref, allOf, and the
// first branch of anyOf and oneOf. Not `pattern`. Strings come from the words of `text`, from number `first_word`
// on, or are the property's name. Total: an empty or odd schema gives {}.
std::string sample_arguments(std::string_view schema, std::string_view text,
                             std::size_t first_word = 0);

}  // namespace callgate::script
