#include "chat/scrubbed.h"

#include <algorithm>
#include <vector>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate {
namespace {

// What the paths say of one member.
struct PathsOf {
  bool goes = false;
  std::vector<std::string> inside;
};

PathsOf paths_of(std::string_view name, std::span<const std::string> paths) {
  PathsOf found;
  for (const std::string_view path : paths) {
    if (path == name) found.goes = true;
    const bool inside =
        path.size() > name.size() && path.starts_with(name) && path[name.size()] == '.';
    if (inside) found.inside.emplace_back(path.substr(name.size() + 1));
  }
  return found;
}

}  // namespace

std::string without_members(std::string_view object, std::span<const std::string> paths) {
  json::Reader in(object);
  if (paths.empty() || in.peek() != json::Kind::object) return std::string(object);
  std::string out;
  json::ObjectWriter kept(out);
  std::string name;
  for (std::string_view key; in.next_member(key);) {
    name = key;
    const std::string_view value = in.raw();
    const PathsOf found = paths_of(name, paths);
    if (!found.goes) kept.raw_escaped(name, without_members(value, found.inside));
  }
  kept.close();
  return in.finish() ? out : std::string(object);
}

void scrub_request(Request& request, std::span<const std::string> paths) {
  const auto goes = [&](const auto& field) { return paths_of(field.name, paths).goes; };
  std::erase_if(request.extra, goes);
  std::erase_if(request.native, goes);
  for (ExtraField& field : request.extra) {
    const PathsOf found = paths_of(field.name, paths);
    if (!found.inside.empty()) field.value.text = without_members(field.value.text, found.inside);
  }
}

}  // namespace callgate
