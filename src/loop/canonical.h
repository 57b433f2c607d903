// One text for all JSON texts that mean the same: keys sorted, no white space, escapes written one way.
//   { "b": 1, "a" : "\u0041" }   ->   {"a":"A","b":1}
#pragma once

#include <string>
#include <string_view>

namespace callgate::loop {

// Numbers stay as written; of members with the same name the last counts. A text that is not JSON is given back as it is.
std::string canonical_json(std::string_view json);

}  // namespace callgate::loop
