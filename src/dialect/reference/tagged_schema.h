// What a JSON schema says about raw values, looked up the slow way: the schema is a tree, every question walks it anew.
//
//   {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/none"}]}   and the text 3   give   3
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/request.h"
#include "json/reader.h"

namespace callgate::dialect::reference::tagged {

struct JsonMember;

struct JsonTree {
  json::Kind kind = json::Kind::invalid;
  std::string text;                 // of a scalar
  std::vector<JsonMember> members;  // of an array: the keys are empty
  const JsonTree* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  JsonTree value;
};

bool is_json(std::string_view text);
std::string_view trim(std::string_view text);

// Names of kinds, as a schema's `type` has them. None: nothing is known.
using Kinds = std::set<std::string, std::less<>>;

// A place in a schema; one that says nothing has no node.
class Schema {
 public:
  // The arguments of `tool`.
  Schema(std::span<const ToolSpec> tools, std::string_view tool);

  Kinds kinds() const;
  Schema member(std::string_view name) const;
  Schema element() const;
  bool says_nothing() const { return node_ == nullptr; }
  bool lists_members() const;
  // All arguments may stand in a member of this name.
  bool is_wrapped_by(std::string_view name) const;
  // A member that is required is not among `names`.
  bool misses(const std::set<std::string, std::less<>>& names) const;

 private:
  Schema(std::shared_ptr<const JsonTree> root, const JsonTree* node)
      : root_(std::move(root)), node_(node) {}
  const JsonTree* follow(std::string_view pointer) const;
  std::vector<const JsonTree*> parts(const JsonTree* node, int depth) const;
  void collect(const JsonTree* node, Kinds& kinds, int depth) const;

  std::shared_ptr<const JsonTree> root_;
  const JsonTree* node_ = nullptr;
};

// The text as JSON of one of `kinds`; nothing: no opinion.
std::optional<std::string> typed(std::string_view text, const Kinds& kinds);
// The same for a text that says of itself that it is JSON.
std::optional<std::string> typed_json(std::string_view text);
// What leaves of a value that the end of the turn cuts.
std::string cut(std::string_view text, const Kinds& kinds);

}  // namespace callgate::dialect::reference::tagged
