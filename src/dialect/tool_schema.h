// What a prompt says about the parameters of a tool: a flat view of its JSON schema.
//
//   {"type":"object","properties":{"city":{"type":"string","description":"where"},"days":{"type":"integer","default":1}},
//    "required":["city"]}
#pragma once

#include <string>
#include <vector>

#include "callgate/request.h"

namespace callgate::dialect {

struct Parameter {
  std::string name;
  std::string type;  // as in the schema, several joined by " or "; empty when it says none
  std::string description;
  std::string values;    // JSON array of an enum, or empty
  std::string standard;  // JSON of the default, or empty
  std::string schema;    // all of it, JSON
  bool required = false;
};

// In the order of the schema. None for a schema that is not an object with properties.
std::vector<Parameter> parameters_of(const ToolSpec& tool);

// Arguments that fit: the required parameters, or the first one where none is required, with values that the schema names
// or allows.
std::string sample_arguments(const ToolSpec& tool);

}  // namespace callgate::dialect
