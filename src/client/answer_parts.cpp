#include "client/answer_parts.h"

#include <algorithm>

#include "base/text.h"
#include "chat/content.h"
#include "json/each.h"

namespace callgate::client {

// Searched for one after the other: a search for either looks at each byte by itself.
static bool has_line_break(std::string_view json) {
  return json.find('\n') != std::string_view::npos || json.find('\r') != std::string_view::npos;
}

void append_json_line(std::string& out, std::string_view json) {
  if (!has_line_break(json)) {
    out.append(json);
    return;
  }
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t end = std::min(json.find_first_of("\r\n", at), json.size());
    out.append(json.substr(at, end - at));
    at = end + 1;
  }
}

void append_arguments_line(std::string& out, std::string_view arguments) {
  const std::size_t at = out.size();
  append_arguments_object(out, arguments);
  if (!has_line_break(std::string_view(out).substr(at))) return;
  const std::string object = out.substr(at);
  out.resize(at);
  append_json_line(out, object);
}

void append_fold(json::ObjectWriter& object, const FieldFold& fields) {
  fields.each([&](std::string_view name, std::string_view json) {
    std::string line;
    append_json_line(line, json);
    object.raw_escaped(name, line);
  });
}

std::string object_members(std::string_view json) {
  std::string members;
  json::each_member(json, [&](std::string_view name, std::string_view value) {
    members.push_back(',');
    json::append_string(members, name);
    members.push_back(':');
    append_json_line(members, value);
  });
  return members;
}

std::string_view array_elements(std::string_view json) {
  if (json.size() < 2 || json.front() != '[') return {};
  const std::string_view inner = json.substr(1, json.size() - 2);
  return is_blank(inner) ? std::string_view() : inner;
}

}  // namespace callgate::client
