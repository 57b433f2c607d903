// One member of an object that is kept as text. Of members with the same name the last counts, and a text that is not an
// object has none.
//
//   member_json(R"({"a":{"b":null}})", "a")                   -> {"b":null}
//   given_member(member_json(R"({"a":{"b":null}})", "a"), "b") -> empty
#pragma once

#include <string>
#include <string_view>

namespace callgate::json {

// The member's JSON, null included; empty when it is not there. A view into `object`.
std::string_view member_json(std::string_view object, std::string_view name);
// The same, where null means that the member is not given.
std::string_view given_member(std::string_view object, std::string_view name);
// The text of a member that is a string, unescaped; empty for everything else.
std::string member_text(std::string_view object, std::string_view name);

}  // namespace callgate::json
