#include "dialect/tool_fit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dialect/tool_schema.h"
#include "json/reader.h"

namespace callgate::dialect {
namespace {

enum class Fit : std::uint8_t { none, known, whole };

std::vector<std::string> keys_of(std::string_view arguments) {
  std::vector<std::string> keys;
  json::Reader in(arguments);
  if (in.peek() != json::Kind::object) return keys;
  for (std::string_view key; in.next_member(key);) {
    keys.emplace_back(key);
    in.skip();
  }
  return keys;
}

Fit fit_of(const ToolSpec& tool, const std::vector<std::string>& keys) {
  const std::vector<Parameter> parameters = parameters_of(tool);
  const bool known = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Parameter& parameter) { return parameter.name == key; });
  });
  if (!known) return Fit::none;
  const bool whole =
      std::all_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
        return !parameter.required ||
               std::find(keys.begin(), keys.end(), parameter.name) != keys.end();
      });
  return whole ? Fit::whole : Fit::known;
}

}  // namespace

std::string_view declared_name(std::span<const ToolSpec> tools, std::string_view name) {
  constexpr std::string_view kPrefix = "functions.";
  if (!name.starts_with(kPrefix)) return name;
  const auto declares = [&](std::string_view wanted) {
    return std::any_of(tools.begin(), tools.end(),
                       [&](const ToolSpec& tool) { return tool.name == wanted; });
  };
  const std::string_view bare = name.substr(kPrefix.size());
  return !declares(name) && declares(bare) ? bare : name;
}

std::string text_parameter(const ToolSpec& tool) {
  std::vector<Parameter> parameters = parameters_of(tool);
  const bool any_required = std::any_of(parameters.begin(), parameters.end(),
                                        [](const Parameter& p) { return p.required; });
  if (any_required) std::erase_if(parameters, [](const Parameter& p) { return !p.required; });
  const bool is_text = parameters.size() == 1 && parameters[0].type.starts_with("string");
  return is_text ? parameters[0].name : std::string();
}

const ToolSpec* tool_for(std::span<const ToolSpec> tools, std::string_view arguments) {
  const std::vector<std::string> keys = keys_of(arguments);
  for (const Fit wanted : {Fit::whole, Fit::known}) {
    const ToolSpec* found = nullptr;
    int count = 0;
    for (const ToolSpec& tool : tools) {
      if (fit_of(tool, keys) != wanted) continue;
      found = &tool;
      ++count;
    }
    if (count > 0) return count == 1 ? found : nullptr;
  }
  return nullptr;
}

}  // namespace callgate::dialect
