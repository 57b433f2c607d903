// The tools of a Messages request, and which of them the model may call.
#include <algorithm>
#include <utility>

#include "client/anthropic_messages/messages_request.h"

namespace callgate::client {
namespace {

constexpr std::size_t kMostTools = 4096;

bool contains_name(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_switch(std::string_view json) { return json == "true" || json == "false"; }

}  // namespace

bool MessagesReader::read_tools(std::string_view json) {
  const Path path("tools");
  if (!blocks_.expect(path, json, json.starts_with('['), "an array of tools")) return false;
  json::Reader in(json);
  for (std::size_t i = 0; in.next_element(); ++i) {
    const std::string_view element = in.raw();
    if (!blocks_.expect(Path(path, i), element, i < kMostTools, "at most 4096 tools")) return false;
    if (!read_tool(Path(path, i), element)) return false;
  }
  return true;
}

// A tool with another type than `custom` is one that the API knows: no other upstream does.
bool MessagesReader::read_tool(const Path& path, std::string_view json) {
  if (!blocks_.expect(path, json, json.starts_with('{'), "an object")) return false;
  Tool tool;
  std::string type = "custom";
  std::string_view schema;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (value == "null") continue;
    bool good = true;
    if (name == "type") {
      good = blocks_.take_text(Path(path, "type"), value, type);
    } else if (name == "name") {
      good = blocks_.take_text(Path(path, "name"), value, tool.spec.name);
    } else if (name == "description") {
      good = blocks_.take_text(Path(path, "description"), value, tool.spec.description);
    } else if (name == "input_schema") {
      schema = value;
    } else if (name == "strict" || name == "defer_loading") {
      good = blocks_.expect(Path(path, name), value, is_switch(value), "true or false");
      if (name == "defer_loading") tool.deferred = value == "true";
      if (name == "strict" && value == "true") tool.spec.extra.push_back({name, {"true"}});
    }
    if (!good) return false;
  }
  if (type != "custom") {
    searches_ = searches_ || type.starts_with("tool_search_tool");
    server_tools_.push_back(tool.spec.name);
    add_native(path.text(), json);
    return true;
  }
  if (!blocks_.expect(Path(path, "name"), {}, !tool.spec.name.empty(), "a name") ||
      !blocks_.expect(Path(path, "input_schema"), schema, schema.starts_with('{'),
                      "a JSON schema object")) {
    return false;
  }
  tool.spec.parameters.text = schema;
  tool.spec.source = span_of(json);
  tools_.push_back(std::move(tool));
  return true;
}

bool MessagesReader::read_tool_choice(std::string_view json) {
  using Mode = ToolChoice::Mode;
  const Path path("tool_choice");
  if (!blocks_.expect(path, json, json.starts_with('{'), "an object")) return false;
  std::string type;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name == "type" && !blocks_.take_text(Path(path, "type"), value, type)) return false;
    if (name == "name" && value != "null" &&
        !blocks_.take_text(Path(path, "name"), value, request_.tool_choice.name)) {
      return false;
    }
    if (name == "disable_parallel_tool_use" && value != "null") {
      if (!blocks_.expect(Path(path, name), value, is_switch(value), "true or false")) return false;
      if (value == "true") request_.parallel_tool_calls = false;
    }
  }
  Mode& mode = request_.tool_choice.mode;
  mode = type == "auto"   ? Mode::automatic
         : type == "any"  ? Mode::required
         : type == "none" ? Mode::none
         : type == "tool" ? Mode::named
                          : Mode::unset;
  if (mode == Mode::unset) {
    const Path type_path(path, "type");
    return blocks_.fault(type_path, type.empty() ? "missing" : "another word",
                         "auto, any, tool or none");
  }
  if (mode != Mode::named) request_.tool_choice.name.clear();
  return mode != Mode::named ||
         blocks_.expect(Path(path, "name"), {}, !request_.tool_choice.name.empty(),
                        "the name of a declared tool");
}

// A deferred tool is unknown to the model until a search finds it. Where the client searches, the results tell which are found;
// where the API should, all are declared.
void MessagesReader::choose_tools() {
  std::vector<std::string>& found = blocks_.referenced();
  std::sort(found.begin(), found.end());
  ToolChoice& choice = request_.tool_choice;
  for (Tool& tool : tools_) {
    const bool known = !tool.deferred || searches_ ||
                       std::binary_search(found.begin(), found.end(), tool.spec.name) ||
                       choice.name == tool.spec.name;
    if (known) request_.tools.push_back(std::move(tool.spec));
  }
  const bool server_side =
      choice.mode == ToolChoice::Mode::named && contains_name(server_tools_, choice.name);
  const bool none_left =
      choice.mode == ToolChoice::Mode::required && request_.tools.empty() && !server_tools_.empty();
  if (server_side || none_left) choice = {};
}

}  // namespace callgate::client
