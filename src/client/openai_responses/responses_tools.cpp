#include "client/openai_responses/responses_tools.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/regex.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::size_t kMaxResponsesTools = 4096;
constexpr std::size_t kMaxResponsesToolName = 256;
constexpr std::size_t kMaxFunctionName = 64;  // what model servers take

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// ns and name -> ns__name, as model servers want names to be. One that is too long keeps its end, which says more.
std::string flat_name(std::string_view space, std::string_view name) {
  std::string flat(space);
  if (!space.ends_with("__")) flat.append("__");
  flat.append(name);
  std::replace_if(
      flat.begin(), flat.end(), [](char c) { return !is_name_character(c); }, '_');
  if (flat.size() > kMaxFunctionName) flat.erase(0, flat.size() - kMaxFunctionName);
  return flat;
}

// To find out whether a pattern is one costs up to a millisecond: of so many tools of a request it is.
constexpr std::size_t kMostPatterns = 32;

// Lark grammars are shown to the model alone; so are patterns that Regex does not know, and those behind kMostPatterns others.
void take_grammar(std::string_view format, std::size_t& patterns, ToolAlias& alias) {
  alias.has_grammar = json::member_text(format, "type") == "grammar";
  if (!alias.has_grammar || json::member_text(format, "syntax") != "regex") return;
  if (++patterns > kMostPatterns) return;
  std::string pattern = json::member_text(format, "definition");
  if (Regex::compile(pattern)) alias.pattern = std::move(pattern);
}

// The one parameter of a custom tool, and in words what its grammar asks for.
void describe_freeform(std::string_view json, ToolSpec& tool) {
  const std::string_view format = json::given_member(json, "format");
  const std::string definition = json::member_text(format, "definition");
  if (!definition.empty()) {
    if (!tool.description.empty()) tool.description.append("\n\n");
    tool.description.append("`input` must match this grammar (")
        .append(json::member_text(format, "syntax"))
        .append("):\n")
        .append(definition);
  }
  tool.parameters.text =
      R"({"type":"object","properties":{"input":{"type":"string","description":"The whole input, as plain text."}},)"
      R"("required":["input"],"additionalProperties":false})";
}

}  // namespace

bool ResponsesTools::read(std::string_view json) {
  json::Reader in(json);
  if (in.peek() != json::Kind::array) {
    return fault({"tools"}, name_of(in.peek()), "an array of tools");
  }
  return read_list(json, {"tools"});
}

bool ResponsesTools::add_found(std::string_view json, std::size_t item) {
  const FieldPath path = FieldPath{"input", item}.with("tools");
  json::Reader in(json);
  if (in.peek() != json::Kind::array) return fault(path, name_of(in.peek()), "an array of tools");
  return read_list(json, path);
}

bool ResponsesTools::read_list(std::string_view json, const FieldPath& path) {
  json::Reader in(json);
  for (std::size_t i = 0; in.next_element(); ++i) {
    FieldPath at = path;
    (path.inner.empty() ? at.index : at.inner_index) = i;
    if (++count_ > kMaxResponsesTools) return fault(path, "too many", "at most 4096");
    if (in.peek() != json::Kind::object) return fault(at, name_of(in.peek()), "an object");
    if (!read_tool(in.raw(), at)) return false;
  }
  return true;
}

bool ResponsesTools::read_tool(std::string_view json, const FieldPath& path) {
  const std::string_view type_json = json::given_member(json, "type");
  if (!type_json.starts_with('"')) {
    json::Reader in(type_json);
    return fault(path.with("type"), type_json.empty() ? "missing" : name_of(in.peek()),
                 "the type of a tool");
  }
  const std::string type = json::member_text(json, "type");
  if (type == "function") return read_function(json, path, {});
  if (type == "custom") return read_custom(json, path, {});
  if (type == "namespace") return read_namespace(json, path);
  if (type == kToolSearch) return read_search(json, path);
  leave_to_others(path);
  return true;
}

bool ResponsesTools::name_of_tool(std::string_view json, const FieldPath& path, std::string& name) {
  const std::string_view given = json::given_member(json, "name");
  json::Reader in(given);
  if (given.empty()) return fault(path.with("name"), "missing", "a name");
  if (in.peek() != json::Kind::string)
    return fault(path.with("name"), name_of(in.peek()), "a string");
  name = in.string();
  if (name.empty()) return fault(path.with("name"), "empty", "a name");
  if (name.size() > kMaxResponsesToolName) {
    return fault(path.with("name"), "too long", "at most 256 bytes");
  }
  return true;
}

bool ResponsesTools::read_function(std::string_view json, const FieldPath& path,
                                   std::string_view space) {
  ToolAlias alias{.space = std::string(space)};
  if (!name_of_tool(json, path, alias.name)) return false;
  ToolSpec tool;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const json::Kind kind = in.peek();
    const std::string_view value = in.raw();
    if (name == "type" || name == "name" || kind == json::Kind::null) continue;
    if (name == "description") {
      if (kind != json::Kind::string) return fault(path.with(name), name_of(kind), "a string");
      tool.description = json::member_text(json, name);
    } else if (name == "parameters") {
      if (kind != json::Kind::object) {
        return fault(path.with(name), name_of(kind), "a JSON schema object");
      }
      tool.parameters.text = value;
    } else {
      (name == "strict" ? tool.extra : tool.outer_extra).push_back({name, {std::string(value)}});
    }
  }
  add(std::move(tool), std::move(alias));
  return true;
}

bool ResponsesTools::read_custom(std::string_view json, const FieldPath& path,
                                 std::string_view space) {
  ToolAlias alias{.kind = ToolAlias::Kind::freeform, .space = std::string(space)};
  if (!name_of_tool(json, path, alias.name)) return false;
  const std::string_view described = json::given_member(json, "description");
  if (!described.empty() && !described.starts_with('"')) {
    return fault(path.with("description"), name_of(json::Reader(described).peek()), "a string");
  }
  const std::string_view format = json::given_member(json, "format");
  if (!format.empty() && !read_format(format, path)) return false;
  ToolSpec tool{.description = json::member_text(json, "description")};
  describe_freeform(json, tool);
  take_grammar(format, patterns_, alias);
  add(std::move(tool), std::move(alias));
  return true;
}

// {"type":"text"} or {"type":"grammar","syntax":"regex","definition":"[a-z]+"}
bool ResponsesTools::read_format(std::string_view format, const FieldPath& path) {
  if (!format.starts_with('{')) {
    return fault(path.with("format"), name_of(json::Reader(format).peek()), "an object");
  }
  if (json::member_text(format, "type") != "grammar") return true;
  for (const std::string_view name : {"syntax", "definition"}) {
    if (!json::member_text(format, name).empty()) continue;
    const std::string_view given = json::given_member(format, name);
    const std::string at = "format." + std::string(name);
    return fault(path.with(at), given.empty() ? "missing" : "not a text of the grammar",
                 name == "syntax" ? "lark|regex" : "the grammar");
  }
  return true;
}

bool ResponsesTools::read_namespace(std::string_view json, const FieldPath& path) {
  std::string space;
  if (!name_of_tool(json, path, space)) return false;
  const std::string_view tools = json::given_member(json, "tools");
  json::Reader in(tools);
  if (tools.empty()) return fault(path.with("tools"), "missing", "an array of tools");
  if (in.peek() != json::Kind::array) {
    return fault(path.with("tools"), name_of(in.peek()), "an array of tools");
  }
  for (std::size_t i = 0; in.next_element(); ++i) {
    FieldPath at = path.with("tools");
    at.inner_index = i;
    if (++count_ > kMaxResponsesTools) return fault({"tools"}, "too many", "at most 4096");
    if (in.peek() != json::Kind::object) return fault(at, name_of(in.peek()), "an object");
    const std::string_view tool = in.raw();
    const std::string type = json::member_text(tool, "type");
    const bool read = type == "function" ? read_function(tool, at, space)
                      : type == "custom" ? read_custom(tool, at, space)
                                         : (leave_to_others(at), true);
    if (!read) return false;
  }
  return true;
}

// Where the client does the search, the model calls it like a function.
bool ResponsesTools::read_search(std::string_view json, const FieldPath& path) {
  if (json::member_text(json, "execution") != "client") {
    leave_to_others(path);
    return true;
  }
  ToolSpec tool{.description = json::member_text(json, "description"),
                .parameters = {std::string(json::given_member(json, "parameters"))}};
  add(std::move(tool), {.kind = ToolAlias::Kind::search, .name = std::string(kToolSearch)});
  return true;
}

std::string ResponsesTools::unused_name(std::string name) const {
  for (std::size_t i = 2; used_.contains(name); ++i) {
    const std::string number = "_" + std::to_string(i);
    if (name.size() + number.size() > kMaxFunctionName)
      name.resize(kMaxFunctionName - number.size());
    if (!used_.contains(name + number)) return name + number;
  }
  return name;
}

// A tool that is declared once more, by a search for example, stays as it is.
void ResponsesTools::add(ToolSpec tool, ToolAlias alias) {
  const std::string key = alias_key(alias.space, alias.name);
  if (functions_.contains(key)) return;
  const bool plain = alias.space.empty() && alias.kind == ToolAlias::Kind::function;
  tool.name = unused_name(alias.space.empty() ? alias.name : flat_name(alias.space, alias.name));
  used_.emplace(tool.name, request_.tools.size());
  functions_.emplace(key, tool.name);
  if (!plain || tool.name != alias.name) {
    alias.function = tool.name;
    request_.client.aliases.push_back(std::move(alias));
  }
  request_.tools.push_back(std::move(tool));
}

std::string ResponsesTools::function_name(std::string_view space, std::string_view name) const {
  const auto found = functions_.find(alias_key(space, name));
  if (found != functions_.end()) return found->second;
  return space.empty() ? std::string(name) : flat_name(space, name);
}

// "auto", "none", "required", {"type":"function","name":"f"}, {"type":"allowed_tools","mode":"auto","tools":[...]}, or a tool of the
// server's.
bool ResponsesTools::read_choice(std::string_view json) {
  using Mode = ToolChoice::Mode;
  constexpr std::string_view kExpected = "auto|none|required or a declared tool";
  json::Reader in(json);
  if (in.peek() == json::Kind::string) {
    const std::string_view word = in.string();
    if (word != "auto" && word != "none" && word != "required") {
      return fault({"tool_choice"}, json, kExpected);
    }
    request_.tool_choice.mode = word == "auto"   ? Mode::automatic
                                : word == "none" ? Mode::none
                                                 : Mode::required;
    return true;
  }
  if (in.peek() != json::Kind::object) {
    return fault({"tool_choice"}, name_of(in.peek()), kExpected);
  }
  const std::string type = json::member_text(json, "type");
  if (type == "allowed_tools") return read_allowed(json);
  if (type != "function" && type != "custom" && type != kToolSearch) {
    if (type.empty()) return fault(FieldPath{"tool_choice"}.with("type"), "missing", "a string");
    request_.client.own_fields.push_back({"tool_choice", true});
    return true;
  }
  const std::string_view name = json::given_member(json, "name");
  if (type != kToolSearch && !name.starts_with('"')) {
    in.reset(name);
    return fault(FieldPath{"tool_choice"}.with("name"),
                 name.empty() ? "missing" : name_of(in.peek()), "the name of a declared tool");
  }
  request_.tool_choice = {.mode = Mode::named, .name = chosen_function(json)};
  return true;
}

std::string ResponsesTools::chosen_function(std::string_view choice) const {
  if (json::member_text(choice, "type") == kToolSearch) return function_name({}, kToolSearch);
  return function_name(json::member_text(choice, "namespace"), json::member_text(choice, "name"));
}

// The others are not shown to the model.
bool ResponsesTools::read_allowed(std::string_view json) {
  const std::string mode = json::member_text(json, "mode");
  const std::string_view list = json::given_member(json, "tools");
  json::Reader in(list);
  if (list.empty() || in.peek() != json::Kind::array) {
    return fault(FieldPath{"tool_choice"}.with("tools"),
                 list.empty() ? "missing" : name_of(in.peek()), "an array of tools");
  }
  std::unordered_map<std::string, bool> allowed;
  while (in.next_element()) allowed[chosen_function(in.raw())] = true;
  std::erase_if(request_.tools, [&](const ToolSpec& tool) { return !allowed.contains(tool.name); });
  request_.tool_choice.mode =
      mode == "required" ? ToolChoice::Mode::required : ToolChoice::Mode::automatic;
  return true;
}

}  // namespace callgate::client
