#include "upstream/openai_responses/responses_tools.h"

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

void append_members(json::ObjectWriter& out, std::string_view object, std::string_view without) {
  json::Reader in(object);
  if (in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name != without) out.raw_escaped(name, value);
  }
}

// {"type":"x","x":{"name":"run"}} -> {"type":"x","name":"run"}; what is flat stays as it is.
std::string flat(std::string_view object) {
  json::Reader type(json::given_member(object, "type"));
  const std::string kind(type.peek() == json::Kind::string ? type.string() : "");
  const std::string_view inner =
      kind.empty() ? std::string_view() : json::given_member(object, kind);
  if (!inner.starts_with('{')) return std::string(object);
  std::string made;
  json::ObjectWriter out(made);
  append_members(out, object, kind);
  append_members(out, inner, "");
  out.close();
  return made;
}

// A grammar is nested in its format as well.
std::string custom_tool(std::string_view tool) {
  const std::string outer = flat(tool);
  const std::string_view format = json::given_member(outer, "format");
  if (format.empty()) return outer;
  std::string made;
  json::ObjectWriter out(made);
  append_members(out, outer, "format");
  out.raw("format", flat(format));
  out.close();
  return made;
}

bool is_custom(std::string_view tool) { return json::given_member(tool, "type") == "\"custom\""; }

void append_responses_tool(std::string& out, const ToolSpec& tool) {
  json::ObjectWriter object(out);
  object.string("type", "function");
  object.string("name", tool.name);
  if (!tool.description.empty()) object.string("description", tool.description);
  append_object_schema(object.key("parameters"), tool.parameters.text);
  // The API's own default is true, that of Chat Completions is not.
  const std::string_view strict = find_field(tool.extra, "strict");
  object.raw("strict", strict.empty() ? "false" : strict);
  for (const std::string_view name : {"defer_loading", "output_schema", "allowed_callers"}) {
    std::string_view json = find_field(tool.outer_extra, name);
    if (json.empty()) json = find_field(tool.extra, name);
    if (!json.empty()) object.raw(name, json);
  }
  object.close();
}

// {"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}
std::string flat_choice(std::string_view choice) {
  const std::string outer = flat(choice);
  const std::string_view tools = json::given_member(outer, "tools");
  json::Reader in(tools);
  if (tools.empty() || in.peek() != json::Kind::array) return outer;
  std::string list;
  while (in.next_element()) {
    if (!list.empty()) list.push_back(',');
    list.append(flat(in.raw()));
  }
  std::string made;
  json::ObjectWriter out(made);
  append_members(out, outer, "tools");
  out.raw("tools", "[" + list + "]");
  out.close();
  return made;
}

}  // namespace

std::string responses_tools(const Request& request) {
  std::string list;
  const auto next = [&]() -> std::string& {
    list.push_back(list.empty() ? '[' : ',');
    return list;
  };
  for (const ToolSpec& tool : request.tools) append_responses_tool(next(), tool);
  for (const RawJson& tool : request.other_tools) {
    next().append(is_custom(tool.text) ? custom_tool(tool.text) : tool.text);
  }
  if (!list.empty()) list.push_back(']');
  return list;
}

std::string responses_tool_choice(const Request& request) {
  using Mode = ToolChoice::Mode;
  std::string json;
  switch (request.tool_choice.mode) {
    case Mode::unset:
      return flat_choice(find_field(request.extra, "tool_choice"));
    case Mode::automatic:
      return "\"auto\"";
    case Mode::none:
      return "\"none\"";
    case Mode::required:
      return "\"required\"";
    case Mode::named:
      break;
  }
  json::ObjectWriter choice(json);
  choice.string("type", "function");
  choice.string("name", request.tool_choice.name);
  choice.close();
  return json;
}

std::vector<std::string> custom_tool_names(const Request& request) {
  std::vector<std::string> names;
  for (const RawJson& tool : request.other_tools) {
    if (!is_custom(tool.text)) continue;
    const std::string made = flat(tool.text);
    json::Reader name(json::given_member(made, "name"));
    if (name.peek() == json::Kind::string) names.emplace_back(name.string());
  }
  return names;
}

}  // namespace callgate::upstream
