#include "json/schema_view.h"

#include <algorithm>
#include <charconv>

#include "json/reader.h"

namespace callgate::json {
namespace {

constexpr int kMaxLayerDepth = 8;  // of $ref and allOf inside each other
constexpr std::size_t kMaxLayers = 64;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    text.replace(at, from.size(), to);
  }
}

// What a local reference such as #/$defs/City points at.
std::optional<std::string_view> resolve(std::string_view root, std::string_view reference) {
  if (!reference.starts_with('#')) return std::nullopt;
  reference.remove_prefix(1);
  std::optional<std::string_view> at = root;
  while (at && !reference.empty()) {
    if (reference.front() != '/') return std::nullopt;
    reference.remove_prefix(1);
    const std::size_t end = std::min(reference.find('/'), reference.size());
    std::string name(reference.substr(0, end));
    replace_all(name, "~1", "/");
    replace_all(name, "~0", "~");
    reference.remove_prefix(end);
    at = member(*at, name);
  }
  return at;
}

}  // namespace

std::optional<std::string_view> member(std::string_view object, std::string_view name) {
  Reader in(object);
  if (in.peek() != Kind::object) return std::nullopt;
  std::optional<std::string_view> found;
  for (std::string_view key; in.next_member(key);) {
    const bool wanted = key == name;
    const std::string_view value = in.raw();
    if (wanted && !in.failed()) found = value;
  }
  return found;
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> found;
  Reader in(array);
  if (in.peek() != Kind::array) return found;
  while (in.next_element()) {
    const std::string_view value = in.raw();
    if (!in.failed()) found.push_back(value);
  }
  return found;
}

std::optional<std::string> string_value(std::string_view value) {
  Reader in(value);
  if (in.peek() != Kind::string) return std::nullopt;
  std::string text(in.string());
  if (in.failed()) return std::nullopt;
  return text;
}

SchemaView::SchemaView(std::string_view root, std::string_view schema) {
  add_layer(root, schema, 0);
}

void SchemaView::add_layer(std::string_view root, std::string_view schema, int depth) {
  if (depth > kMaxLayerDepth || layers_.size() >= kMaxLayers) return;
  layers_.push_back(schema);
  if (const auto reference = member(schema, "$ref")) {
    const auto target = resolve(root, string_value(*reference).value_or(""));
    if (target) add_layer(root, *target, depth + 1);
  }
  if (const auto all = member(schema, "allOf")) {
    for (const std::string_view branch : elements(*all)) add_layer(root, branch, depth + 1);
  }
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    if (const auto branches = member(schema, keyword)) add_first_branch(root, *branches, depth);
  }
}

void SchemaView::add_first_branch(std::string_view root, std::string_view branches, int depth) {
  const std::vector<std::string_view> all = elements(branches);
  const auto real = std::find_if(all.begin(), all.end(), [](std::string_view branch) {
    return string_value(member(branch, "type").value_or("")) != "null";
  });
  if (real != all.end()) {
    add_layer(root, *real, depth + 1);
  } else if (!all.empty()) {
    add_layer(root, all.front(), depth + 1);
  }
}

std::optional<std::string_view> SchemaView::get(std::string_view keyword) const {
  for (const std::string_view layer : layers_) {
    if (const auto value = member(layer, keyword)) return value;
  }
  return std::nullopt;
}

std::optional<double> SchemaView::number(std::string_view keyword) const {
  const auto text = get(keyword);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (fault != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::string SchemaView::type() const {
  if (const auto given = get("type")) {
    if (const auto name = string_value(*given)) return *name;
    for (const std::string_view element : elements(*given)) {
      const std::string name = string_value(element).value_or("null");
      if (name != "null") return name;
    }
    return "null";
  }
  if (get("properties") || get("required")) return "object";
  if (get("items") || get("prefixItems")) return "array";
  for (const std::string_view bound :
       {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}) {
    if (get(bound)) return "number";
  }
  return "string";
}

std::vector<SchemaView::Property> SchemaView::properties() const {
  std::vector<Property> found;
  for (const std::string_view layer : layers_) {
    const auto object = member(layer, "properties");
    if (!object) continue;
    Reader in(*object);
    if (in.peek() != Kind::object) continue;
    for (std::string_view key; in.next_member(key);) {
      std::string name(key);
      const std::string_view schema = in.raw();
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const Property& p) { return p.name == name; });
      if (!known && !in.failed()) found.push_back({std::move(name), schema});
    }
  }
  return found;
}

std::vector<std::string> SchemaView::required() const {
  std::vector<std::string> names;
  for (const std::string_view layer : layers_) {
    for (const std::string_view element : elements(member(layer, "required").value_or(""))) {
      if (auto name = string_value(element)) names.push_back(std::move(*name));
    }
  }
  return names;
}

}  // namespace callgate::json
