#include "dialect/tool_schema.h"

#include <algorithm>

#include "json/reader.h"
#include "json/schema_sample.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

void add_type(std::string& type, std::string_view name) {
  if (!type.empty()) type += " or ";
  type += name;
}

// A name, or a list of names.
void read_type(json::Reader& in, std::string& type) {
  if (in.peek() == json::Kind::string) return add_type(type, in.string());
  if (in.peek() != json::Kind::array) return in.skip();
  while (in.next_element()) {
    if (in.peek() == json::Kind::string) {
      add_type(type, in.string());
    } else {
      in.skip();
    }
  }
}

Parameter read_parameter(std::string name, std::string_view schema) {
  Parameter parameter{.name = std::move(name), .schema = std::string(schema)};
  json::Reader in(parameter.schema);
  if (in.peek() != json::Kind::object) return parameter;
  for (std::string_view key; in.next_member(key);) {
    if (key == "type") {
      read_type(in, parameter.type);
    } else if (key == "description" && in.peek() == json::Kind::string) {
      parameter.description = in.string();
    } else if (key == "enum" && in.peek() == json::Kind::array) {
      parameter.values = in.raw();
    } else if (key == "default") {
      parameter.standard = in.raw();
    } else {
      in.skip();
    }
  }
  return parameter;
}

void read_properties(json::Reader& in, std::vector<Parameter>& parameters) {
  if (in.peek() != json::Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    std::string name(key);
    parameters.push_back(read_parameter(std::move(name), in.raw()));
  }
}

}  // namespace

std::vector<Parameter> parameters_of(const ToolSpec& tool) {
  std::vector<Parameter> parameters;
  std::vector<std::string> required;
  json::Reader in(tool.parameters.text);
  if (tool.parameters.empty() || in.peek() != json::Kind::object) return parameters;
  for (std::string_view key; in.next_member(key);) {
    if (key == "properties") {
      read_properties(in, parameters);
    } else if (key == "required" && in.peek() == json::Kind::array) {
      while (in.next_element()) {
        if (in.peek() == json::Kind::string) {
          required.emplace_back(in.string());
        } else {
          in.skip();
        }
      }
    } else {
      in.skip();
    }
  }
  for (Parameter& parameter : parameters) {
    parameter.required =
        std::find(required.begin(), required.end(), parameter.name) != required.end();
  }
  return parameters;
}

std::string sample_arguments(const ToolSpec& tool) {
  const std::vector<Parameter> parameters = parameters_of(tool);
  const bool any_required = std::any_of(parameters.begin(), parameters.end(),
                                        [](const Parameter& p) { return p.required; });
  std::string arguments = "{";
  for (const Parameter& parameter : parameters) {
    if (any_required && !parameter.required) continue;
    if (arguments.size() > 1) arguments += ", ";
    json::append_string(arguments, parameter.name);
    arguments += ": ";
    arguments +=
        json::sample_value(tool.parameters.text, parameter.schema, "the " + parameter.name);
    if (!any_required) break;
  }
  return arguments + "}";
}

}  // namespace callgate::dialect
