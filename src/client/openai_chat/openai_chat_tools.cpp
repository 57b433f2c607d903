// The tools of a Chat Completions request, and which of them the model may call.
#include <algorithm>
#include <utility>

#include "client/openai_chat/openai_chat_request.h"
#include "client/openai_chat/tool_reader.h"
#include "json/writer.h"

namespace callgate::client {
bool OpenaiRequestReader::read_tools() {
  ToolReader reader(in_);
  if (reader.read(request_.tools, request_.other_tools)) return true;
  error_ = reader.take_error();
  return false;
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
    ToolReader reader(in_);
    if (reader.read_function(path, tool) && reader.check_tool(path, tool)) continue;
    error_ = reader.take_error();
    return false;
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
