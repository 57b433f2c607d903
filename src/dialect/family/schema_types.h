// What a tool's JSON schema says about the kinds of its parameters. Tagged dialects write `3` for a number and for a
// text alike; only the schema tells them apart.
//
//   {"type": "object", "properties": {"days": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
//
// Flattened into one set: `type` (a name or a list), anyOf, oneOf, allOf, enum, const, nullable and local $ref.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/request.h"
#include "chat/tool_index.h"
#include "json/reader.h"

namespace callgate::dialect {

enum class ValueKind : std::uint8_t { null, integer, number, boolean, object, array, string };

// A set of kinds. Empty means that nothing is known.
class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr KindSet(std::initializer_list<ValueKind> kinds) {
    for (const ValueKind kind : kinds) add(kind);
  }

  constexpr void add(ValueKind kind) { bits_ = static_cast<std::uint8_t>(bits_ | bit(kind)); }
  constexpr bool has(ValueKind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const KindSet&) const = default;

 private:
  static constexpr std::uint8_t bit(ValueKind kind) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
  }
  std::uint8_t bits_ = 0;
};

// The set of a type's name; empty for a name that no schema uses. Python's names count too.
KindSet kinds_of_type_name(std::string_view name);

// Models that put all arguments into one object call it this.
bool is_wrapper_name(std::string_view name);

class SchemaTree;

// A place in a schema. A default one is a place where the schema says nothing. Valid while its SchemaTree lives.
class SchemaPlace {
 public:
  SchemaPlace() = default;

  bool is_nothing() const { return tree_ == nullptr; }
  KindSet kinds() const;
  // The place of a member of this object, by its name.
  SchemaPlace member(std::string_view name) const;
  // The place of the elements of this array.
  SchemaPlace element() const;
  // The name of the member that the schema lists at `index`, or empty.
  std::string_view member_name(std::size_t index) const;
  // The members that an object must have, here or behind $ref and allOf.
  std::vector<std::string_view> required() const;
  // The tool has parameters, and none of this name, which is that of a wrapper around all of them.
  bool is_wrapped_by(std::string_view name) const {
    return is_wrapper_name(name) && !member_name(0).empty() && member(name).is_nothing();
  }
  // The schema has a place for each member of a JSON object.
  bool knows_members_of(std::string_view object) const;

 private:
  friend class SchemaTree;
  SchemaPlace(const SchemaTree* tree, std::uint32_t node) : tree_(tree), node_(node) {}
  const SchemaTree* tree_ = nullptr;
  std::uint32_t node_ = 0;
};

// One schema, read once. A text that is not JSON gives a tree that says nothing.
class SchemaTree {
 public:
  explicit SchemaTree(std::string_view json);
  SchemaPlace root() const { return nodes_.empty() ? SchemaPlace() : SchemaPlace(this, 0); }

 private:
  friend class SchemaPlace;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Node {
    json::Kind kind = json::Kind::invalid;
    std::uint32_t child = kNone;
    std::uint32_t next = kNone;
    std::string key;
    std::string text;  // of a string, a number or a boolean
  };
  // The nodes that one question has looked at: none is looked at twice, so references may be cyclic.
  struct Seen {
    std::vector<bool> nodes;
    int depth = 0;
  };
  static constexpr int kMaxDepth = 256;

  std::uint32_t read(json::Reader& in);
  std::uint32_t find(std::uint32_t node, std::string_view key) const;
  std::uint32_t follow(std::string_view reference) const;
  bool enter(std::uint32_t node, Seen& seen) const;
  void collect(std::uint32_t node, KindSet& set, Seen& seen) const;
  void collect_value(std::uint32_t node, KindSet& set) const;
  void collect_required(std::uint32_t node, std::vector<std::string_view>& names, Seen& seen) const;
  // The first node for which `probe` finds something, here or behind $ref, allOf, anyOf and oneOf.
  template <class Probe>
  std::uint32_t search(std::uint32_t node, const Probe& probe, Seen& seen) const;

  std::vector<Node> nodes_;
};

// The schemas of the declared tools. A schema is read when its tool is first called.
class ToolSchemas {
 public:
  // REQUIRES: `tools` outlives this.
  explicit ToolSchemas(std::span<const ToolSpec> tools) : tools_(tools) {}

  bool are_unknown() const { return tools_.tools().empty(); }
  bool declares(std::string_view tool) const;
  // It is declared, or nobody said which tools there are.
  bool may_be_called(std::string_view tool) const { return are_unknown() || declares(tool); }
  // The place of the arguments of `tool`, or one that says nothing.
  SchemaPlace arguments_of(std::string_view tool);

 private:
  ToolIndex tools_;
  std::unordered_map<const ToolSpec*, std::unique_ptr<SchemaTree>> read_;
};

}  // namespace callgate::dialect
