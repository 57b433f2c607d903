#include "loop/canonical.h"

#include <map>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::loop {
namespace {

// Depth is limited by the reader.
void append_canonical(std::string& out, json::Reader& in);

void append_object(std::string& out, json::Reader& in) {
  std::map<std::string, std::string> members;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    std::string value;
    append_canonical(value, in);
    members.insert_or_assign(name, std::move(value));
  }
  out += '{';
  for (const auto& [name, value] : members) {
    if (out.back() != '{') out += ',';
    json::append_string(out, name);
    out += ':';
    out += value;
  }
  out += '}';
}

void append_array(std::string& out, json::Reader& in) {
  out += '[';
  for (bool first = true; in.next_element(); first = false) {
    if (!first) out += ',';
    append_canonical(out, in);
  }
  out += ']';
}

void append_canonical(std::string& out, json::Reader& in) {
  switch (in.peek()) {
    case json::Kind::object:
      return append_object(out, in);
    case json::Kind::array:
      return append_array(out, in);
    case json::Kind::string:
      return json::append_string(out, in.string());
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
      out += in.raw();
      return;
    case json::Kind::invalid:
      in.skip();
      return;
  }
}

}  // namespace

std::string canonical_json(std::string_view json) {
  json::Reader in(json);
  std::string out;
  append_canonical(out, in);
  return in.finish() ? out : std::string(json);
}

}  // namespace callgate::loop
