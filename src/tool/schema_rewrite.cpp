#include "tool/schema_rewrite.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace callgate::tool {
namespace {

constexpr std::array<std::string_view, 4> kDropped = {"format", "$id", "id", "$schema"};
constexpr std::array<std::string_view, 4> kNothingButData = {"enum", "const", "default",
                                                             "examples"};
// Their members' names are the author's; the values are schemas.
constexpr std::array<std::string_view, 6> kMaps = {
    "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"};
constexpr int kMostHops = 32;
// Compiling and checking go down by one for each: the stack is not without end.
constexpr std::size_t kMostReferences = 500;
constexpr int kMostSteps = 32;

template <std::size_t size>
bool is_one_of(std::string_view name, const std::array<std::string_view, size>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_request, "schema: " + std::move(message));
}

// Property names are matched by a backtracking engine: only what cannot explode may get there.
bool is_harmless_pattern(std::string_view pattern) {
  const auto repeats = std::count_if(pattern.begin(), pattern.end(), [](char c) {
    return c == '*' || c == '+' || c == '?' || c == '{';
  });
  return pattern.size() <= 128 && repeats <= 2 && pattern.find('(') == std::string_view::npos;
}

const SchemaNode* resolve(const SchemaNode& root, std::string_view pointer) {
  const SchemaNode* node = &root;
  while (!pointer.empty() && node != nullptr) {
    if (pointer.front() != '/') return nullptr;
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string name(pointer.substr(1, end - 1));
    for (std::size_t at = name.find('~'); at < name.size(); at = name.find('~', at + 1)) {
      name.replace(at, 2, name.compare(at, 2, "~1") == 0 ? "/" : "~");
    }
    pointer.remove_prefix(end);
    if (node->is_array()) {
      const std::size_t index = std::strtoul(name.c_str(), nullptr, 10);
      node = index < node->items.size() ? &node->items[index] : nullptr;
    } else {
      node = node->find(name);
    }
  }
  return node;
}

// How many schemas lie on top of each other for one and the same value: a schema that leads back to itself without
// going down into the value would never be done.
class StepCounter {
 public:
  explicit StepCounter(const SchemaNode& root) : root_(root) {}

  // kMostSteps + 1 when there are more, or no end.
  int steps(const SchemaNode& node, int depth) {
    if (depth > kMostSteps) return kMostSteps + 1;
    if (const auto known = known_.find(&node); known != known_.end()) return known->second;
    int most = 0;
    const auto follow = [&](const SchemaNode* inner) {
      if (inner != nullptr) most = std::max(most, 1 + steps(*inner, depth + 1));
    };
    for (const auto& [name, value] : node.members) {
      if (name == "$ref" && value.is_string() && value.text.starts_with('#')) {
        follow(resolve(root_, std::string_view(value.text).substr(1)));
      } else if (name == "allOf" || name == "anyOf" || name == "oneOf") {
        for (const SchemaNode& item : value.items) follow(&item);
      } else if (name == "not" || name == "if" || name == "then" || name == "else") {
        follow(&value);
      } else if (name == "dependencies" || name == "dependentSchemas") {
        for (const auto& member : value.members) follow(&member.second);
      }
      if (most > kMostSteps) break;
    }
    return known_[&node] = std::min(most, kMostSteps + 1);
  }

 private:
  const SchemaNode& root_;
  std::unordered_map<const SchemaNode*, int> known_;
};

class Rewriter {
 public:
  explicit Rewriter(const SchemaNode& root) : root_(root) {}

  Result<void> schema(SchemaNode& node) {
    if (node.is_array()) {
      for (SchemaNode& item : node.items) {
        if (auto done = schema(item); !done) return done;
      }
      return {};
    }
    if (!node.is_object()) return {};
    std::erase_if(node.members, [](const SchemaNode::Member& member) {
      return is_one_of(member.first, kDropped) && member.second.is_string();
    });
    for (auto& [name, value] : node.members) {
      if (is_one_of(name, kNothingButData)) continue;
      if (auto done = is_one_of(name, kMaps) ? map(name, value) : schema(value); !done) return done;
    }
    return keywords(node);
  }

 private:
  Result<void> map(std::string_view keyword, SchemaNode& node) {
    if (!node.is_object()) return bad(std::string(keyword) + ": expected an object");
    for (auto& [name, value] : node.members) {
      if (keyword == "patternProperties" && !is_harmless_pattern(name)) {
        return bad("patternProperties: \"" + name + "\" is too complex a pattern");
      }
      if (auto done = schema(value); !done) return done;
    }
    return {};
  }

  Result<void> keywords(SchemaNode& node) {
    if (const SchemaNode* divisor = node.find("multipleOf")) {
      if (divisor->kind != json::Kind::number || !(to_double(divisor->text) > 0)) {
        return bad("multipleOf: expected a number greater than 0");
      }
    }
    rename(node, "multipleOf", kMultipleKey);
    rename(node, "pattern", kPatternKey);
    if (node.find("prefixItems") != nullptr) {
      rename(node, "items", "additionalItems");
      rename(node, "prefixItems", "items");
    }
    merge_dependencies(node, "dependentRequired");
    merge_dependencies(node, "dependentSchemas");
    if (const SchemaNode* reference = node.find("$ref")) {
      if (++references_ > kMostReferences) return bad("more than 500 references");
      if (auto found = check_reference(*reference); !found) return found;
      if (node.members.size() > 1) wrap_reference(node);
    }
    return {};
  }

  static void rename(SchemaNode& node, std::string_view from, std::string_view to) {
    for (auto& member : node.members) {
      if (member.first == from) member.first = to;
    }
  }

  static void merge_dependencies(SchemaNode& node, std::string_view from) {
    SchemaNode* found = node.find(from);
    if (found == nullptr) return;
    SchemaNode taken = std::move(*found);
    std::erase_if(node.members, [from](const auto& member) { return member.first == from; });
    SchemaNode* all = node.find("dependencies");
    if (all == nullptr) {
      node.members.emplace_back("dependencies", std::move(taken));
    } else {
      for (auto& member : taken.members) all->members.push_back(std::move(member));
    }
  }

  // Beside other keywords a reference is one more thing that must hold; older drafts ignore those keywords.
  static void wrap_reference(SchemaNode& node) {
    SchemaNode holder;
    holder.kind = json::Kind::object;
    const auto at = std::find_if(node.members.begin(), node.members.end(),
                                 [](const auto& member) { return member.first == "$ref"; });
    holder.members.push_back(std::move(*at));
    node.members.erase(at);
    SchemaNode* all = node.find("allOf");
    if (all == nullptr) {
      node.members.emplace_back("allOf", SchemaNode());
      all = &node.members.back().second;
      all->kind = json::Kind::array;
    }
    all->items.push_back(std::move(holder));
  }

  // A chain of references that holds nothing but references would never end.
  Result<void> check_reference(const SchemaNode& first) const {
    const SchemaNode* reference = &first;
    for (int hops = 0; reference != nullptr; ++hops) {
      if (!reference->is_string() || !reference->text.starts_with('#')) {
        return bad("$ref: expected a place in the same schema, such as #/$defs/x");
      }
      if (hops == kMostHops) return bad("$ref: \"" + reference->text + "\" leads to itself");
      const SchemaNode* target = resolve(root_, std::string_view(reference->text).substr(1));
      if (target == nullptr) return bad("$ref: there is nothing at \"" + reference->text + "\"");
      reference = target->find("$ref");
    }
    return {};
  }

  const SchemaNode& root_;
  std::size_t references_ = 0;
};

// Every schema in it, wherever it stands.
bool is_shallow(const SchemaNode& node, StepCounter& counter) {
  if (counter.steps(node, 0) > kMostSteps) return false;
  return std::all_of(node.items.begin(), node.items.end(),
                     [&](const SchemaNode& item) { return is_shallow(item, counter); }) &&
         std::all_of(node.members.begin(), node.members.end(),
                     [&](const auto& member) { return is_shallow(member.second, counter); });
}

}  // namespace

Result<void> rewrite_schema(SchemaNode& schema) {
  const SchemaNode original = schema;
  StepCounter counter(original);
  if (!is_shallow(original, counter)) return bad("it leads to itself, or through too many others");
  return Rewriter(original).schema(schema);
}

}  // namespace callgate::tool
