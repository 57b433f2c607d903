#include "upstream/codex/codex_line.h"

#include "json/member.h"

namespace callgate::upstream {

bool read_codex_line(std::string_view text, json::Reader& reader, CodexLine& line) {
  line.method.clear();
  line.id = line.params = line.msg = line.result = line.error = {};
  reader.reset(text);
  if (reader.peek() != json::Kind::object) return false;
  for (std::string_view key; reader.next_member(key);) {
    if (key == "method" && reader.peek() == json::Kind::string) {
      line.method = reader.string();
    } else if (key == "id") {
      line.id = reader.raw();
    } else if (key == "params") {
      line.params = reader.raw();
    } else if (key == "msg") {
      line.msg = reader.raw();
    } else if (key == "result") {
      line.result = reader.raw();
    } else if (key == "error") {
      line.error = reader.raw();
    } else {
      reader.skip();
    }
  }
  return reader.finish();
}

std::string any_member_text(std::string_view object, std::string_view name) {
  const std::string_view json = json::member_json(object, name);
  if (json == "null") return {};
  json::Reader in(json);
  return std::string(in.peek() == json::Kind::string ? in.string() : json);
}

}  // namespace callgate::upstream
