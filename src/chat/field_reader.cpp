#include "chat/field_reader.h"

#include "json/writer.h"

namespace callgate {

std::string_view name_of(json::Kind kind) {
  switch (kind) {
    case json::Kind::object:
      return "an object";
    case json::Kind::array:
      return "an array";
    case json::Kind::string:
      return "a string";
    case json::Kind::number:
      return "a number";
    case json::Kind::boolean:
      return "a boolean";
    case json::Kind::null:
      return "null";
    case json::Kind::invalid:
      return "nothing";
  }
  return {};
}

FieldPath FieldPath::with(std::string_view name) const {
  FieldPath path = *this;
  (path.inner.empty() && path.inner_index == kNone ? path.inner : path.leaf) = name;
  return path;
}

std::string FieldPath::text() const {
  std::string text(root);
  const auto add_index = [&](std::size_t at) {
    if (at == kNone) return;
    text.push_back('[');
    json::append_integer(text, static_cast<std::int64_t>(at));
    text.push_back(']');
  };
  const auto add_name = [&](std::string_view name) {
    if (!name.empty()) text.append(".").append(name);
  };
  add_index(index);
  add_name(inner);
  add_index(inner_index);
  add_name(leaf);
  return text;
}

bool FieldReader::read_boolean(const FieldPath& path, bool& value) {
  if (in_.peek() != json::Kind::boolean) return fault_kind(path, "true or false");
  value = in_.boolean();
  return true;
}

bool FieldReader::read_string(const FieldPath& path, std::string& value) {
  if (is_null()) {
    in_.null();
    return true;
  }
  if (in_.peek() != json::Kind::string) return fault_kind(path, "a string");
  value = in_.string();
  return true;
}

void FieldReader::keep(std::vector<ExtraField>& extra, std::string_view name) {
  ExtraField& field = extra.emplace_back();
  field.name = name;
  field.value.text = in_.raw();
}

bool FieldReader::keep_texts(std::vector<ExtraField>& extra, std::string_view name,
                             FieldPath path) {
  const json::Kind kind = in_.peek();
  if (kind != json::Kind::array && kind != json::Kind::string) {
    return fault_kind(path, "a string or an array of strings");
  }
  const std::string_view list = in_.raw();
  json::Reader elements(list);
  std::size_t& index = path.inner.empty() ? path.index : path.inner_index;
  for (index = 0; kind == json::Kind::array && elements.next_element(); ++index) {
    if (elements.peek() != json::Kind::string) {
      return fault(path, name_of(elements.peek()), "a string");
    }
    elements.skip();
  }
  if (kind == json::Kind::string || index > 0) {
    extra.push_back({std::string(name), {std::string(list)}});
  }
  return true;
}

bool FieldReader::is_null() { return in_.peek() == json::Kind::null; }

bool FieldReader::fault(const FieldPath& path, std::string_view found, std::string_view expected) {
  error_ = {.code = ErrorCode::invalid_request, .param = path.text()};
  error_.message.append(error_.param).append(": ").append(found);
  error_.message.append(", expected ").append(expected);
  return false;
}

bool FieldReader::fault_kind(const FieldPath& path, std::string_view expected) {
  return fault(path, name_of(in_.peek()), expected);
}

}  // namespace callgate
