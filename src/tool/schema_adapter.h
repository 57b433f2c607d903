// How valijson sees a SchemaNode. Only argument_schema.cpp includes this.
#pragma once

#ifndef VALIJSON_USE_EXCEPTIONS
#define VALIJSON_USE_EXCEPTIONS 1
#endif

#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <valijson/internal/adapter.hpp>
#include <valijson/internal/basic_adapter.hpp>
#include <valijson/internal/frozen_value.hpp>

#include "tool/schema_node.h"

namespace callgate::tool {

// The work that one check may cost: every look at a value takes a part of it.
struct SchemaBudget {
  std::size_t looks;
};

struct SchemaBudgetSpent : std::runtime_error {
  SchemaBudgetSpent() : std::runtime_error("too much work") {}
};

inline void spend(SchemaBudget* budget, std::size_t looks) {
  if (budget == nullptr) return;
  if (looks > budget->looks) throw SchemaBudgetSpent();
  budget->looks -= looks;
}

class NodeAdapter;

// Where a value is, and what it is charged to (nothing if empty).
struct NodePlace {
  const SchemaNode* node = nullptr;
  SchemaBudget* budget = nullptr;
};

template <class Position, class Value>
class NodeIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = Value*;
  using reference = Value&;

  NodeIterator(Position at, SchemaBudget* budget) : at_(at), budget_(budget) {}
  Value operator*() const;
  valijson::adapters::DerefProxy<Value> operator->() const {
    return valijson::adapters::DerefProxy<Value>(**this);
  }
  bool operator==(const NodeIterator& other) const { return at_ == other.at_; }
  bool operator!=(const NodeIterator& other) const { return at_ != other.at_; }
  NodeIterator& operator++() { return ++at_, *this; }
  NodeIterator operator++(int) {
    NodeIterator before = *this;
    ++at_;
    return before;
  }
  NodeIterator& operator--() { return --at_, *this; }
  void advance(std::ptrdiff_t steps) { at_ += steps; }

 private:
  Position at_;
  SchemaBudget* budget_;
};

using NodeMember = std::pair<std::string, NodeAdapter>;
using ItemIterator = NodeIterator<std::vector<SchemaNode>::const_iterator, NodeAdapter>;
using MemberIterator = NodeIterator<std::vector<SchemaNode::Member>::const_iterator, NodeMember>;

inline const SchemaNode& empty_node() {
  static const SchemaNode node;
  return node;
}

class NodeArray {
 public:
  using const_iterator = ItemIterator;
  using iterator = ItemIterator;
  NodeArray() : place_{&empty_node(), nullptr} {}
  explicit NodeArray(NodePlace place) : place_(place) {}
  ItemIterator begin() const { return {place_.node->items.begin(), place_.budget}; }
  ItemIterator end() const { return {place_.node->items.end(), place_.budget}; }
  std::size_t size() const { return place_.node->items.size(); }

 private:
  NodePlace place_;
};

class NodeObject {
 public:
  using const_iterator = MemberIterator;
  using iterator = MemberIterator;
  NodeObject() : place_{&empty_node(), nullptr} {}
  explicit NodeObject(NodePlace place) : place_(place) {}
  MemberIterator begin() const { return {place_.node->members.begin(), place_.budget}; }
  MemberIterator end() const { return {place_.node->members.end(), place_.budget}; }
  MemberIterator find(const std::string& name) const {
    const auto& members = place_.node->members;
    auto at = members.begin();
    while (at != members.end() && at->first != name) ++at;
    spend(place_.budget, static_cast<std::size_t>(at - members.begin()));
    return {at, place_.budget};
  }
  std::size_t size() const { return place_.node->members.size(); }

 private:
  NodePlace place_;
};

class NodeFrozenValue : public valijson::adapters::FrozenValue {
 public:
  explicit NodeFrozenValue(SchemaNode node) : node_(std::move(node)) {}
  valijson::adapters::FrozenValue* clone() const override { return new NodeFrozenValue(node_); }
  bool equalTo(const valijson::adapters::Adapter& other, bool strict) const override;

 private:
  SchemaNode node_;
};

class NodeValue {
 public:
  NodeValue() : place_{&empty_node(), nullptr} {}
  explicit NodeValue(NodePlace place) : place_(place) {}

  static bool hasStrictTypes() { return true; }
  valijson::adapters::FrozenValue* freeze() const { return new NodeFrozenValue(*place_.node); }

  bool isArray() const { return look() == json::Kind::array; }
  bool isBool() const { return look() == json::Kind::boolean; }
  bool isDouble() const { return look() == json::Kind::number && !is_integral(place_.node->text); }
  bool isInteger() const { return look() == json::Kind::number && is_integral(place_.node->text); }
  bool isNull() const { return look() == json::Kind::null; }
  bool isNumber() const { return look() == json::Kind::number; }
  bool isObject() const { return look() == json::Kind::object; }
  bool isString() const { return look() == json::Kind::string; }

  opt::optional<NodeArray> getArrayOptional() const {
    return isArray() ? opt::make_optional(NodeArray(place_)) : opt::optional<NodeArray>();
  }
  opt::optional<NodeObject> getObjectOptional() const {
    return isObject() ? opt::make_optional(NodeObject(place_)) : opt::optional<NodeObject>();
  }
  bool getArraySize(std::size_t& result) const {
    result = place_.node->items.size();
    return isArray();
  }
  bool getObjectSize(std::size_t& result) const {
    result = place_.node->members.size();
    return isObject();
  }
  bool getBool(bool& result) const {
    result = place_.node->truth;
    return isBool();
  }
  bool getDouble(double& result) const {
    if (!isNumber()) return false;
    result = to_double(place_.node->text);
    return true;
  }
  bool getInteger(std::int64_t& result) const {
    if (!isInteger()) return false;
    result = to_near_integer(place_.node->text);
    return true;
  }
  bool getString(std::string& result) const {
    if (!isString()) return false;
    result = place_.node->text;
    return true;
  }

 private:
  json::Kind look() const {
    spend(place_.budget, 1);
    return place_.node->kind;
  }
  NodePlace place_;
};

class NodeAdapter : public valijson::adapters::BasicAdapter<NodeAdapter, NodeArray, NodeMember,
                                                            NodeObject, NodeValue> {
 public:
  NodeAdapter() = default;
  explicit NodeAdapter(NodePlace place) : BasicAdapter(NodeValue(place)), budget_(place.budget) {}
  explicit NodeAdapter(const SchemaNode& node) : NodeAdapter(NodePlace{&node, nullptr}) {}

  // For work that takes longer than a look.
  void spend(std::size_t looks) const { tool::spend(budget_, looks); }

 private:
  SchemaBudget* budget_ = nullptr;
};

template <class Position, class Value>
Value NodeIterator<Position, Value>::operator*() const {
  if constexpr (std::is_same_v<Value, NodeAdapter>) {
    return NodeAdapter(NodePlace{&*at_, budget_});
  } else {
    return Value(at_->first, NodeAdapter(NodePlace{&at_->second, budget_}));
  }
}

inline bool NodeFrozenValue::equalTo(const valijson::adapters::Adapter& other, bool strict) const {
  return NodeAdapter(node_).equalTo(other, strict);
}

}  // namespace callgate::tool

template <>
struct valijson::adapters::AdapterTraits<callgate::tool::NodeAdapter> {
  using DocumentType = callgate::tool::SchemaNode;
  static std::string adapterName() { return "NodeAdapter"; }
};
