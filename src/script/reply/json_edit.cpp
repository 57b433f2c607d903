#include "script/reply/json_edit.h"

#include <utility>

#include "json/each.h"
#include "json/writer.h"

namespace callgate::script {
namespace {

bool is_named(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    if (names.substr(0, bar) == name) return true;
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return false;
}

void append_edited(std::string& out, std::string_view json, std::string_view path,
                   JsonChange change) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view head = path.substr(0, dot);
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  if (head == "*" && json.starts_with('[')) {
    char separator = '[';
    json::each_element(json, [&](std::string_view element) {
      out.push_back(std::exchange(separator, ','));
      if (!rest.empty()) return append_edited(out, element, rest, change);
      out += change(element).value_or("null");
    });
    out += separator == '[' ? "[]" : "]";
  } else if (head != "*" && json.starts_with('{')) {
    json::ObjectWriter object(out);
    bool found = false;
    json::each_member(json, [&](std::string_view name, std::string_view value) {
      if (!is_named(head, name)) return object.raw_escaped(name, value);
      found = true;
      if (!rest.empty()) return append_edited(object.key(name), value, rest, change);
      if (const auto changed = change(value)) object.raw(name, *changed);
    });
    if (!found && rest.empty()) {
      if (const auto added = change({})) object.raw(head, *added);
    }
    object.close();
  } else {
    out += json;
  }
}

}  // namespace

void edit_json(std::string& json, std::string_view path, JsonChange change) {
  std::string edited;
  edited.reserve(json.size());
  append_edited(edited, json, path, change);
  json = std::move(edited);
}

std::string json_at(std::string_view json, std::string_view path) {
  std::string found;
  std::string unused;
  append_edited(unused, json, path, [&](std::string_view value) -> std::optional<std::string> {
    if (!value.empty()) found = value;
    return std::nullopt;
  });
  return found;
}

void set_json(std::string& json, std::string_view path, std::string_view value) {
  edit_json(json, path, [&](std::string_view) { return std::optional(std::string(value)); });
}

void remove_json(std::string& json, std::string_view path) {
  edit_json(json, path, [](std::string_view) { return std::optional<std::string>(); });
}

std::optional<std::string> removed(std::string_view) { return std::nullopt; }

std::string json_text(std::string_view text) {
  std::string json;
  json::append_string(json, text);
  return json;
}

bool is_json(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

bool is_json_object(std::string_view text) {
  json::Reader in(text);
  return in.peek() == json::Kind::object && is_json(text);
}

}  // namespace callgate::script
