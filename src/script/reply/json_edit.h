// Changes single members of a JSON text; everything else stays as it is written.
//
//   edit_json(frame, "choices.*.delta.tool_calls.*.id", [](std::string_view) { return std::nullopt; });
//
// A path is names with dots between them. `*` stands for every element of an array, `a|b` for members of either name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::script {

// The new JSON of a member that has `json`; nothing: the object has no such member. `json` is empty where the object has
// none yet. What it returns may be the same again.
using JsonChange = FunctionRef<std::optional<std::string>(std::string_view json)>;

// REQUIRES: `json` is well-formed.
void edit_json(std::string& json, std::string_view path, JsonChange change);

// The value at a path, the last one if there are several; empty if it is missing.
std::string json_at(std::string_view json, std::string_view path);

// Changes that many members have in common. Those that are not there stay away.
std::optional<std::string> removed(std::string_view json);
// Sets the member, whether or not it is there.
void set_json(std::string& json, std::string_view path, std::string_view value);
void remove_json(std::string& json, std::string_view path);

std::string json_text(std::string_view text);
bool is_json(std::string_view text);
bool is_json_object(std::string_view text);

}  // namespace callgate::script
