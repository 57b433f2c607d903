// ArgumentSchema: a tool's JSON schema, compiled once, and the check of a call's arguments against it.
//   schema.check(R"({"unit": "kelvin"})")  ->  arguments.city: missing; arguments.unit: expected one of "c", "f", got
//                                               string "kelvin"
#pragma once

#include <memory>
#include <string_view>

#include "callgate/result.h"

namespace callgate::tool {

// Drafts 4 to 7 and of 2020-12 what those know under another name ($defs, prefixItems, dependentRequired,
// dependentSchemas, $ref beside other keywords). `format`, `unevaluated...` and `minContains` are not checked, remote
// references are refused. A hostile schema costs no more than a bounded amount of work.
class ArgumentSchema {
 public:
  // Fails if the text is not a JSON Schema. Empty text allows any object.
  static Result<ArgumentSchema> compile(std::string_view schema);
  ~ArgumentSchema();
  ArgumentSchema(ArgumentSchema&&) noexcept;
  ArgumentSchema& operator=(ArgumentSchema&&) noexcept;

  // The error's message names every place, what was expected and what was found: a model can act on it. Any thread.
  Result<void> check(std::string_view arguments) const;

 private:
  struct Compiled;
  explicit ArgumentSchema(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

// The same in one step, for a schema that is used once.
Result<void> check_arguments(std::string_view schema, std::string_view arguments);

}  // namespace callgate::tool
