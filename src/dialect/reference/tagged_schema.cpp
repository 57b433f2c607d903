#include "dialect/reference/tagged_schema.h"

#include <algorithm>

#include "json/writer.h"

namespace callgate::dialect::reference::tagged {
namespace {

constexpr int kDeep = 12;

JsonTree read_tree(json::Reader& in) {
  JsonTree tree{.kind = in.peek()};
  switch (tree.kind) {
    case json::Kind::object:
      for (std::string_view key; in.next_member(key);) {
        std::string name(key);
        tree.members.push_back({std::move(name), read_tree(in)});
      }
      break;
    case json::Kind::array:
      while (in.next_element()) tree.members.push_back({"", read_tree(in)});
      break;
    case json::Kind::string:
      tree.text = in.string();
      break;
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      tree.text = in.raw();
      break;
  }
  return tree;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return out;
}

std::string kind_name(const JsonTree& value) {
  switch (value.kind) {
    case json::Kind::object:
      return "object";
    case json::Kind::array:
      return "array";
    case json::Kind::string:
      return "string";
    case json::Kind::number:
      return value.text.find_first_of(".eE") == std::string::npos ? "integer" : "number";
    case json::Kind::boolean:
      return "boolean";
    case json::Kind::null:
      return "null";
    case json::Kind::invalid:
      break;
  }
  return "";
}

std::string as_string(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool has_raw_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string::npos) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string::npos) {
    text.remove_suffix(1);
  }
  return text;
}

bool is_json(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

const JsonTree* JsonTree::find(std::string_view key) const {
  const JsonTree* found = nullptr;
  if (kind != json::Kind::object) return found;
  for (const auto& [name, value] : members) {
    if (name == key) found = &value;
  }
  return found;
}

Schema::Schema(std::span<const ToolSpec> tools, std::string_view tool) {
  for (const ToolSpec& spec : tools) {
    if (spec.name != tool) continue;
    json::Reader in(spec.parameters.text);
    auto root = std::make_shared<JsonTree>(read_tree(in));
    if (!in.finish()) return;
    node_ = root.get();
    root_ = std::move(root);
    return;
  }
}

const JsonTree* Schema::follow(std::string_view pointer) const {
  if (!pointer.starts_with('#')) return nullptr;
  std::string rest = percent_decoded(pointer.substr(1));
  const JsonTree* node = root_.get();
  while (node != nullptr && !rest.empty()) {
    if (rest[0] != '/') return nullptr;
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string step =
        replace_all(replace_all(rest.substr(1, end - 1), "~1", "/"), "~0", "~");
    rest.erase(0, end);
    if (node->kind == json::Kind::array) {
      const std::size_t index = std::stoul(step);
      node = index < node->members.size() ? &node->members[index].value : nullptr;
    } else {
      node = node->find(step);
    }
  }
  return node;
}

// The node and all that it refers to or is made of.
std::vector<const JsonTree*> Schema::parts(const JsonTree* node, int depth) const {
  std::vector<const JsonTree*> all;
  if (node == nullptr || node->kind != json::Kind::object || depth > kDeep) return all;
  all.push_back(node);
  for (const auto& [key, value] : node->members) {
    std::vector<const JsonTree*> more;
    if (key == "$ref") more = parts(follow(value.text), depth + 1);
    if (key == "anyOf" || key == "oneOf" || key == "allOf") {
      for (const auto& [none, each] : value.members) {
        const auto of_each = parts(&each, depth + 1);
        more.insert(more.end(), of_each.begin(), of_each.end());
      }
    }
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Kinds Schema::kinds() const {
  Kinds kinds;
  collect(node_, kinds, 0);
  return kinds;
}

void Schema::collect(const JsonTree* node, Kinds& kinds, int depth) const {
  if (node == nullptr || node->kind != json::Kind::object || depth > kDeep) return;
  Kinds here;
  if (const JsonTree* type = node->find("type")) {
    if (type->kind == json::Kind::string) here.insert(type->text);
    for (const auto& [none, each] : type->members) here.insert(each.text);
  }
  if (const JsonTree* values = node->find("enum")) {
    for (const auto& [none, each] : values->members) here.insert(kind_name(each));
  }
  if (const JsonTree* value = node->find("const")) here.insert(kind_name(*value));
  if (const JsonTree* nullable = node->find("nullable"); nullable && nullable->text == "true") {
    here.insert("null");
  }
  for (const std::string_view key : {"anyOf", "oneOf", "allOf"}) {
    const JsonTree* list = node->find(key);
    if (list == nullptr) continue;
    for (const auto& [none, each] : list->members) collect(&each, here, depth + 1);
  }
  if (const JsonTree* ref = node->find("$ref")) collect(follow(ref->text), here, depth + 1);
  if (here.empty() && node->find("properties") != nullptr) here.insert("object");
  if (here.empty() && node->find("items") != nullptr) here.insert("array");
  kinds.insert(here.begin(), here.end());
}

Schema Schema::member(std::string_view name) const {
  for (const JsonTree* part : parts(node_, 0)) {
    const JsonTree* members = part->find("properties");
    const JsonTree* found = members == nullptr ? nullptr : members->find(name);
    if (found != nullptr) return {root_, found};
  }
  for (const JsonTree* part : parts(node_, 0)) {
    const JsonTree* other = part->find("additionalProperties");
    if (other != nullptr && other->kind == json::Kind::object) return {root_, other};
  }
  return {root_, nullptr};
}

Schema Schema::element() const {
  for (const JsonTree* part : parts(node_, 0)) {
    if (const JsonTree* items = part->find("items")) return {root_, items};
  }
  return {root_, nullptr};
}

bool Schema::lists_members() const {
  for (const JsonTree* part : parts(node_, 0)) {
    const JsonTree* members = part->find("properties");
    if (members != nullptr && !members->members.empty()) return true;
  }
  return false;
}

bool Schema::is_wrapped_by(std::string_view name) const {
  constexpr std::string_view kNames[] = {"arguments", "parameters", "input",
                                         "args",      "params",     "kwargs"};
  const bool fits = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  return fits && lists_members() && member(name).says_nothing();
}

bool Schema::misses(const std::set<std::string, std::less<>>& names) const {
  for (const JsonTree* part : parts(node_, 0)) {
    const JsonTree* required = part->find("required");
    if (required == nullptr) continue;
    for (const auto& [none, each] : required->members) {
      if (!names.contains(each.text)) return true;
    }
  }
  return false;
}

std::optional<std::string> typed(std::string_view text, const Kinds& kinds) {
  if (kinds.empty() || kinds.contains("string")) {
    return kinds.contains("null") && text == "null" ? "null" : as_string(text);
  }
  const std::string core(trim(text));
  if (kinds.contains("null") && (core == "null" || core == "None")) return "null";
  const bool number =
      !core.empty() && (core[0] == '-' || (core[0] >= '0' && core[0] <= '9')) && is_json(core);
  const std::string fraction = core.substr(std::min(core.find('.'), core.size()));
  const bool power = number && core.find_first_of("eE") != std::string::npos;
  const bool whole = number && !power && fraction.find_first_not_of(".0") == std::string::npos;
  if (number && kinds.contains("number")) return core;
  if (whole && kinds.contains("integer")) return core;
  if (kinds.contains("boolean") && (core == "true" || core == "True")) return "true";
  if (kinds.contains("boolean") && (core == "false" || core == "False")) return "false";
  const bool container = (kinds.contains("object") && core.starts_with('{')) ||
                         (kinds.contains("array") && core.starts_with('['));
  if (container && is_json(core)) return core;
  // Whether it is a literal of Python is not for a reference to say.
  const bool wants_container = kinds.contains("object") || kinds.contains("array");
  if (wants_container && core.find_first_of("{[(") == 0 &&
      core.find_last_of("}])") == core.size() - 1 && !is_json(core)) {
    return std::nullopt;
  }
  // Whether 5e3 is an integer, TRUE a boolean, and a raw newline allowed in a JSON string is not said anywhere.
  const std::string lower = lower_case(core);
  const bool odd = (container && has_raw_control(core)) || (power && kinds.contains("integer")) ||
                   (kinds.contains("null") && (lower == "null" || lower == "none")) ||
                   (kinds.contains("boolean") && (lower == "true" || lower == "false"));
  if (odd) return std::nullopt;
  return as_string(text);
}

std::optional<std::string> typed_json(std::string_view text) {
  if (is_json(text)) return std::string(trim(text));
  return typed(text, {"null", "number", "boolean", "object", "array"});
}

std::string cut(std::string_view text, const Kinds& kinds) {
  if (!kinds.empty() && !kinds.contains("string")) return std::string(text);
  std::string out = as_string(text);
  out.pop_back();
  return out;
}

}  // namespace callgate::dialect::reference::tagged
