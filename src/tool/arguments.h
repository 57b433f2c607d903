// The members of a call's arguments, and what they look like outside JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"

namespace callgate::tool {

struct Argument {
  std::string name;
  std::string json;  // its value as it was written
};

// Of the same name, the last counts. Empty text is an empty object.
Result<std::vector<Argument>> read_arguments(std::string_view json);

const Argument* find_argument(const std::vector<Argument>& arguments, std::string_view name);

// A string without quotes and escapes; anything else as it was written.
std::string to_plain_text(std::string_view json);
// The plain texts of an array's elements, of any other value its own; none for null.
std::vector<std::string> to_plain_texts(std::string_view json);

// The JSON object of those arguments, `names` in order; those that are missing are left out.
std::string to_object(const std::vector<Argument>& arguments,
                      const std::vector<std::string>& names);

}  // namespace callgate::tool
