#include "dialect/family/schema_types.h"

#include <algorithm>
#include <array>

namespace callgate::dialect {
namespace {

struct TypeName {
  std::string_view name;
  ValueKind kind;
};
constexpr std::array kTypeNames = {
    TypeName{"null", ValueKind::null},     TypeName{"integer", ValueKind::integer},
    TypeName{"number", ValueKind::number}, TypeName{"boolean", ValueKind::boolean},
    TypeName{"object", ValueKind::object}, TypeName{"array", ValueKind::array},
    TypeName{"string", ValueKind::string}, TypeName{"None", ValueKind::null},
    TypeName{"int", ValueKind::integer},   TypeName{"float", ValueKind::number},
    TypeName{"double", ValueKind::number}, TypeName{"bool", ValueKind::boolean},
    TypeName{"dict", ValueKind::object},   TypeName{"list", ValueKind::array},
    TypeName{"tuple", ValueKind::array},   TypeName{"str", ValueKind::string},
    TypeName{"text", ValueKind::string},
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// One step of a JSON pointer: ~1 is a slash, ~0 a tilde.
std::string pointer_step(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      out.push_back(text[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

bool is_combiner(std::string_view key) {
  return key == "anyOf" || key == "oneOf" || key == "allOf";
}

}  // namespace

KindSet kinds_of_type_name(std::string_view name) {
  for (const TypeName& type : kTypeNames) {
    if (type.name == name) return {type.kind};
  }
  return {};
}

bool is_wrapper_name(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"arguments", "parameters", "input",
                                                      "args",      "params",     "kwargs"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

SchemaTree::SchemaTree(std::string_view json) {
  json::Reader in(json);
  read(in);
  if (!in.finish()) nodes_.clear();
}

std::uint32_t SchemaTree::read(json::Reader& in) {
  const auto self = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.kind = in.peek()});
  std::uint32_t last = kNone;
  const auto attach = [&](std::uint32_t child) {
    (last == kNone ? nodes_[self].child : nodes_[last].next) = child;
    last = child;
  };
  switch (nodes_[self].kind) {
    case json::Kind::object:
      for (std::string_view key; in.next_member(key);) {
        std::string name(key);
        const std::uint32_t child = read(in);
        nodes_[child].key = std::move(name);
        attach(child);
      }
      break;
    case json::Kind::array:
      while (in.next_element()) attach(read(in));
      break;
    case json::Kind::string:
      nodes_[self].text = in.string();
      break;
    case json::Kind::number:
      nodes_[self].text = in.number();
      break;
    case json::Kind::boolean:
      nodes_[self].text = in.boolean() ? "true" : "false";
      break;
    case json::Kind::null:
      in.null();
      break;
    case json::Kind::invalid:
      in.skip();
      break;
  }
  return self;
}

std::uint32_t SchemaTree::find(std::uint32_t node, std::string_view key) const {
  if (node == kNone || nodes_[node].kind != json::Kind::object) return kNone;
  std::uint32_t found = kNone;
  for (std::uint32_t at = nodes_[node].child; at != kNone; at = nodes_[at].next) {
    if (nodes_[at].key == key) found = at;
  }
  return found;
}

std::uint32_t SchemaTree::follow(std::string_view reference) const {
  if (reference.empty() || reference[0] != '#') return kNone;
  const std::string pointer = percent_decoded(reference.substr(1));
  std::uint32_t node = 0;
  std::size_t at = 0;
  while (at < pointer.size() && node != kNone) {
    if (pointer[at] != '/') return kNone;
    const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    const std::string step = pointer_step(std::string_view(pointer).substr(at + 1, end - at - 1));
    at = end;
    if (nodes_[node].kind == json::Kind::array) {
      std::uint32_t element = nodes_[node].child;
      std::size_t index = 0;
      for (; element != kNone && std::to_string(index) != step; ++index) {
        element = nodes_[element].next;
      }
      node = element;
    } else {
      node = find(node, step);
    }
  }
  return node;
}

void SchemaTree::collect_value(std::uint32_t node, KindSet& set) const {
  switch (nodes_[node].kind) {
    case json::Kind::object:
      set.add(ValueKind::object);
      break;
    case json::Kind::array:
      set.add(ValueKind::array);
      break;
    case json::Kind::string:
      set.add(ValueKind::string);
      break;
    case json::Kind::number:
      set.add(nodes_[node].text.find_first_of(".eE") == std::string::npos ? ValueKind::integer
                                                                          : ValueKind::number);
      break;
    case json::Kind::boolean:
      set.add(ValueKind::boolean);
      break;
    case json::Kind::null:
      set.add(ValueKind::null);
      break;
    case json::Kind::invalid:
      break;
  }
}

// True: `node` is an object that the question has not looked at yet. Then seen.depth is to be taken down again.
bool SchemaTree::enter(std::uint32_t node, Seen& seen) const {
  if (node == kNone || nodes_[node].kind != json::Kind::object) return false;
  seen.nodes.resize(nodes_.size());
  if (seen.nodes[node] || seen.depth == kMaxDepth) return false;
  seen.nodes[node] = true;
  ++seen.depth;
  return true;
}

void SchemaTree::collect(std::uint32_t node, KindSet& set, Seen& seen) const {
  if (!enter(node, seen)) return;
  KindSet here;
  const auto merge_type = [&](const Node& type) {
    for (const TypeName& known : kTypeNames) {
      if (known.name == type.text) here.add(known.kind);
    }
  };
  bool has_members = false;
  bool has_elements = false;
  for (std::uint32_t at = nodes_[node].child; at != kNone; at = nodes_[at].next) {
    const Node& field = nodes_[at];
    if (field.key == "type") {
      merge_type(field);
      for (std::uint32_t t = field.child; t != kNone; t = nodes_[t].next) merge_type(nodes_[t]);
    } else if (field.key == "enum") {
      for (std::uint32_t v = field.child; v != kNone; v = nodes_[v].next) collect_value(v, here);
    } else if (field.key == "const") {
      collect_value(at, here);
    } else if (is_combiner(field.key)) {
      for (std::uint32_t s = field.child; s != kNone; s = nodes_[s].next) collect(s, here, seen);
    } else if (field.key == "$ref") {
      collect(follow(field.text), here, seen);
    } else if (field.key == "nullable" && field.text == "true") {
      here.add(ValueKind::null);
    }
    has_members = has_members || field.key == "properties";
    has_elements = has_elements || field.key == "items" || field.key == "prefixItems";
  }
  if (here.empty() && has_members) here.add(ValueKind::object);
  if (here.empty() && has_elements) here.add(ValueKind::array);
  for (const TypeName& known : kTypeNames) {
    if (here.has(known.kind)) set.add(known.kind);
  }
  --seen.depth;
}

void SchemaTree::collect_required(std::uint32_t node, std::vector<std::string_view>& names,
                                  Seen& seen) const {
  if (!enter(node, seen)) return;
  for (std::uint32_t at = nodes_[node].child; at != kNone; at = nodes_[at].next) {
    const Node& field = nodes_[at];
    if (field.key == "$ref") collect_required(follow(field.text), names, seen);
    const bool all = field.key == "allOf";
    if (!all && field.key != "required") continue;
    for (std::uint32_t each = field.child; each != kNone; each = nodes_[each].next) {
      if (all) {
        collect_required(each, names, seen);
      } else if (nodes_[each].kind == json::Kind::string) {
        names.push_back(nodes_[each].text);
      }
    }
  }
  --seen.depth;
}

template <class Probe>
std::uint32_t SchemaTree::search(std::uint32_t node, const Probe& probe, Seen& seen) const {
  if (!enter(node, seen)) return kNone;
  if (const std::uint32_t found = probe(node); found != kNone) return found;
  for (std::uint32_t at = nodes_[node].child; at != kNone; at = nodes_[at].next) {
    const Node& field = nodes_[at];
    std::uint32_t found = kNone;
    if (field.key == "$ref") {
      found = search(follow(field.text), probe, seen);
    } else if (is_combiner(field.key)) {
      for (std::uint32_t s = field.child; s != kNone && found == kNone; s = nodes_[s].next) {
        found = search(s, probe, seen);
      }
    }
    if (found != kNone) return found;
  }
  --seen.depth;
  return kNone;
}

KindSet SchemaPlace::kinds() const {
  KindSet set;
  SchemaTree::Seen seen;
  if (tree_ != nullptr) tree_->collect(node_, set, seen);
  return set;
}

SchemaPlace SchemaPlace::member(std::string_view name) const {
  if (tree_ == nullptr) return {};
  const auto listed = [&](std::uint32_t node) {
    return tree_->find(tree_->find(node, "properties"), name);
  };
  const auto additional = [&](std::uint32_t node) {
    const std::uint32_t schema = tree_->find(node, "additionalProperties");
    const bool usable =
        schema != SchemaTree::kNone && tree_->nodes_[schema].kind == json::Kind::object;
    return usable ? schema : SchemaTree::kNone;
  };
  SchemaTree::Seen seen;
  std::uint32_t found = tree_->search(node_, listed, seen);
  seen = {};
  if (found == SchemaTree::kNone) found = tree_->search(node_, additional, seen);
  return found == SchemaTree::kNone ? SchemaPlace() : SchemaPlace(tree_, found);
}

SchemaPlace SchemaPlace::element() const {
  if (tree_ == nullptr) return {};
  const auto probe = [&](std::uint32_t node) { return tree_->find(node, "items"); };
  SchemaTree::Seen seen;
  const std::uint32_t found = tree_->search(node_, probe, seen);
  return found == SchemaTree::kNone ? SchemaPlace() : SchemaPlace(tree_, found);
}

std::string_view SchemaPlace::member_name(std::size_t index) const {
  if (tree_ == nullptr) return {};
  const auto probe = [&](std::uint32_t node) {
    const std::uint32_t members = tree_->find(node, "properties");
    if (members == SchemaTree::kNone) return SchemaTree::kNone;
    std::uint32_t at = tree_->nodes_[members].child;
    for (std::size_t i = 0; i < index && at != SchemaTree::kNone; ++i) at = tree_->nodes_[at].next;
    return at;
  };
  SchemaTree::Seen seen;
  const std::uint32_t found = tree_->search(node_, probe, seen);
  return found == SchemaTree::kNone ? std::string_view() : tree_->nodes_[found].key;
}

std::vector<std::string_view> SchemaPlace::required() const {
  std::vector<std::string_view> names;
  SchemaTree::Seen seen;
  if (tree_ != nullptr) tree_->collect_required(node_, names, seen);
  return names;
}

bool SchemaPlace::knows_members_of(std::string_view object) const {
  json::Reader in(object);
  bool known = true;
  for (std::string_view key; in.next_member(key); in.skip()) {
    known = known && !member(key).is_nothing();
  }
  return known && in.finish();
}

bool ToolSchemas::declares(std::string_view tool) const {
  return std::any_of(tools_.begin(), tools_.end(),
                     [&](const ToolSpec& spec) { return spec.name == tool; });
}

SchemaPlace ToolSchemas::arguments_of(std::string_view tool) {
  for (const Entry& entry : read_) {
    if (tools_[entry.tool].name == tool) return entry.tree->root();
  }
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    if (tools_[i].name != tool) continue;
    read_.push_back({i, std::make_unique<SchemaTree>(tools_[i].parameters.text)});
    return read_.back().tree->root();
  }
  return {};
}

}  // namespace callgate::dialect
