// A JSON schema as layers: the schema itself, what its $ref names, every branch of allOf, and the first branch of anyOf
// and oneOf that is not null. A keyword is looked up in the layers in that order.
//   {"$ref": "#/$defs/City", "default": "Rome"}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::json {

// The raw value of a member of a JSON object; of duplicate keys the last counts. Nothing when `object` is not an object.
std::optional<std::string_view> member(std::string_view object, std::string_view name);
// The raw elements of a JSON array; empty when `array` is not an array.
std::vector<std::string_view> elements(std::string_view array);
// The value of a JSON string; nothing when `value` is not a string.
std::optional<std::string> string_value(std::string_view value);

class SchemaView {
 public:
  struct Property {
    std::string name;
    std::string_view schema;
  };

  // REQUIRES: `root`, the whole document, outlives the view; `schema` is a part of it.
  SchemaView(std::string_view root, std::string_view schema);

  std::optional<std::string_view> get(std::string_view keyword) const;
  std::optional<double> number(std::string_view keyword) const;
  // The first type that is not null; guessed from other keywords when there is none.
  std::string type() const;
  // Of all layers together.
  std::vector<Property> properties() const;
  std::vector<std::string> required() const;

 private:
  void add_layer(std::string_view root, std::string_view schema, int depth);
  void add_first_branch(std::string_view root, std::string_view branches, int depth);

  std::vector<std::string_view> layers_;
};

}  // namespace callgate::json
