#include "client/openai_chat/tool_reader.h"

#include <utility>

namespace callgate::client {
namespace {

constexpr std::size_t kMaxToolName = 256;

}  // namespace

bool ToolReader::read(std::vector<ToolSpec>& tools, std::vector<RawJson>& others) {
  if (in_.peek() != json::Kind::array) return fault_kind({"tools"}, "an array of tools");
  tools.clear();
  others.clear();
  for (std::size_t i = 0; in_.next_element(); ++i) {
    if (i == kMaxTools) return fault({"tools"}, "too many", "at most 4096");
    if (!read_tool(i, tools, others)) return false;
  }
  return true;
}

bool ToolReader::read_tool(std::size_t index, std::vector<ToolSpec>& tools,
                           std::vector<RawJson>& others) {
  const FieldPath path{"tools", index};
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  const std::string_view raw = in_.raw();
  json::Reader outer = std::exchange(in_, json::Reader(raw));
  ToolSpec tool;
  std::string type;
  bool has_function = false;
  bool good = true;
  for (std::string_view key; good && in_.next_member(key);) {
    if (key == "type") {
      good = read_string(path.with("type"), type);
    } else if (key == "function" && in_.peek() == json::Kind::object) {
      has_function = true;
      good = read_function(path.with("function"), tool);
    } else {
      const std::string name(key);
      keep(tool.outer_extra, name);
    }
  }
  in_ = std::move(outer);
  if (!good) return false;
  if (type.empty()) return fault(path.with("type"), "missing", "\"function\"");
  if (type != "function") {
    others.push_back({std::string(raw)});
    return true;
  }
  if (!has_function) return fault(path.with("function"), "missing", "an object");
  if (!check_tool(path.with("function"), tool)) return false;
  tools.push_back(std::move(tool));
  return true;
}

bool ToolReader::read_function(const FieldPath& path, ToolSpec& tool) {
  for (std::string_view key; in_.next_member(key);) {
    bool good = true;
    if (key == "name") {
      good = read_string(path.with("name"), tool.name);
    } else if (key == "description") {
      good = read_string(path.with("description"), tool.description);
    } else if (key == "parameters") {
      if (is_null()) {
        in_.null();
      } else if (in_.peek() == json::Kind::object) {
        tool.parameters.text = in_.raw();
      } else {
        good = fault_kind(path.with("parameters"), "a JSON schema object");
      }
    } else {
      const std::string name(key);
      keep(tool.extra, name);
    }
    if (!good) return false;
  }
  return true;
}

bool ToolReader::check_tool(const FieldPath& path, const ToolSpec& tool) {
  if (tool.name.empty()) return fault(path.with("name"), "missing", "a name");
  if (tool.name.size() > kMaxToolName) {
    return fault(path.with("name"), "too long", "at most 256 bytes");
  }
  return true;
}

}  // namespace callgate::client
