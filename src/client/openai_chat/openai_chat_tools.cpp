// The tools of a Chat Completions request, and which of them the model may call.
#include <algorithm>
#include <utility>

#include "client/openai_chat/openai_chat_request.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::size_t kMaxTools = 4096;
constexpr std::size_t kMaxToolName = 256;

}  // namespace

bool OpenaiRequestReader::read_tools() {
  if (in_.peek() != json::Kind::array) return fault_kind({"tools"}, "an array of tools");
  request_.tools.clear();
  request_.other_tools.clear();
  for (std::size_t i = 0; in_.next_element(); ++i) {
    if (i == kMaxTools) return fault({"tools"}, "too many", "at most 4096");
    if (!read_tool(i)) return false;
  }
  return true;
}

bool OpenaiRequestReader::read_tool(std::size_t index) {
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
    request_.other_tools.push_back({std::string(raw)});
    return true;
  }
  if (!has_function) return fault(path.with("function"), "missing", "an object");
  if (!check_tool(path.with("function"), tool)) return false;
  request_.tools.push_back(std::move(tool));
  return true;
}

bool OpenaiRequestReader::read_function(const FieldPath& path, ToolSpec& tool) {
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

bool OpenaiRequestReader::check_tool(const FieldPath& path, const ToolSpec& tool) {
  if (tool.name.empty()) return fault(path.with("name"), "missing", "a name");
  if (tool.name.size() > kMaxToolName) {
    return fault(path.with("name"), "too long", "at most 256 bytes");
  }
  return true;
}

bool OpenaiRequestReader::read_functions() {
  if (in_.peek() != json::Kind::array) return fault_kind({"functions"}, "an array of functions");
  has_functions_ = true;
  functions_.clear();
  for (std::size_t i = 0; in_.next_element(); ++i) {
    const FieldPath path{"functions", i};
    if (i == kMaxTools) return fault({"functions"}, "too many", "at most 4096");
    if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
    ToolSpec& tool = functions_.emplace_back();
    if (!read_function(path, tool) || !check_tool(path, tool)) return false;
  }
  return true;
}

// "auto", "none", "required", {"type":"function","function":{"name":"f"}}, or the old {"name":"f"}.
bool OpenaiRequestReader::read_tool_choice(std::string_view field) {
  using Mode = ToolChoice::Mode;
  constexpr std::string_view kExpected = "auto|none|required or a declared tool";
  choice_field_ = field;
  raw_choice_ = {};
  request_.tool_choice = {};
  if (in_.peek() == json::Kind::object) return read_named_choice(field);
  if (in_.peek() != json::Kind::string) return fault_kind({field}, kExpected);
  const std::string_view word = in_.string();
  if (word == "auto") {
    request_.tool_choice.mode = Mode::automatic;
  } else if (word == "none") {
    request_.tool_choice.mode = Mode::none;
  } else if (word == "required") {
    request_.tool_choice.mode = Mode::required;
  } else {
    std::string found;
    json::append_string(found, word.substr(0, 64));
    return fault({field}, found, kExpected);
  }
  return true;
}

bool OpenaiRequestReader::read_named_choice(std::string_view field) {
  const std::string_view raw = in_.raw();
  json::Reader outer = std::exchange(in_, json::Reader(raw));
  const bool legacy = field == "function_call";
  const FieldPath path{field};
  std::string type = "function";
  std::string name;
  bool good = true;
  for (std::string_view key; good && in_.next_member(key);) {
    if (key == "type") {
      good = read_string(path.with("type"), type);
    } else if (key == "name" && legacy) {
      good = read_string(path.with("name"), name);
    } else if (key == "function" && in_.peek() == json::Kind::object) {
      for (std::string_view inner; good && in_.next_member(inner);) {
        if (inner == "name") {
          good = read_string(path.with("function.name"), name);
        } else {
          in_.skip();
        }
      }
    } else {
      in_.skip();
    }
  }
  in_ = std::move(outer);
  if (!good) return false;
  if (type != "function") {
    raw_choice_ = raw;
    return true;
  }
  if (name.empty()) {
    return fault(path.with(legacy ? "name" : "function.name"), "missing", "a declared tool");
  }
  request_.tool_choice = {.mode = ToolChoice::Mode::named, .name = std::move(name)};
  return true;
}

bool OpenaiRequestReader::check_tool_choice() {
  if (!raw_choice_.empty()) request_.extra.push_back({"tool_choice", {std::string(raw_choice_)}});
  // A tool_choice may mean tools of the gateway, which come later; the old form knows only what the request declares.
  if (choice_field_ != "function_call") return true;
  const ToolChoice& choice = request_.tool_choice;
  switch (choice.mode) {
    case ToolChoice::Mode::unset:
    case ToolChoice::Mode::automatic:
    case ToolChoice::Mode::none:
      return true;
    case ToolChoice::Mode::required:
      return !request_.tools.empty() || !request_.other_tools.empty() ||
             fault({choice_field_}, "\"required\" without tools", "tools to choose from");
    case ToolChoice::Mode::named:
      break;
  }
  const bool declared = std::any_of(request_.tools.begin(), request_.tools.end(),
                                    [&](const ToolSpec& tool) { return tool.name == choice.name; });
  if (declared) return true;
  std::string found;
  json::append_string(found, choice.name);
  return fault({choice_field_}, found, "a declared tool");
}

}  // namespace callgate::client
