// SchemaNode: a JSON value as a tree, for schemas and for the arguments that are checked against them. Numbers keep their
// text, so that large integers stay what they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/result.h"
#include "json/reader.h"

namespace callgate::tool {

struct SchemaNode {
  struct Member;

  json::Kind kind = json::Kind::null;
  bool truth = false;             // boolean
  std::string text;               // string: unescaped; number: as it was written
  std::vector<Member> members;    // object; of one name, the last counts and is the only one
  std::vector<SchemaNode> items;  // array

  const SchemaNode* find(std::string_view name) const;
  SchemaNode* find(std::string_view name);
  bool is_string() const { return kind == json::Kind::string; }
  bool is_object() const { return kind == json::Kind::object; }
  bool is_array() const { return kind == json::Kind::array; }
};

struct SchemaNode::Member {
  Member(std::string name, SchemaNode value) : first(std::move(name)), second(std::move(value)) {}
  std::string first;
  SchemaNode second;
};

// Deeper nesting than kMostNodeDepth is an error.
inline constexpr int kMostNodeDepth = 40;
Result<SchemaNode> read_node(std::string_view json);

// True for 7, 7.0 and 123456789012345678901234567890.
bool is_integral(std::string_view number);
// The integer, or the nearest that there is.
std::int64_t to_near_integer(std::string_view number);
double to_double(std::string_view number);

// `string "kelvin"`, `number 5`, `an array of 3`, as messages show what was found.
std::string describe(const SchemaNode& node);

}  // namespace callgate::tool
