#include "tool/mcp_values.h"

#include <array>

#include "callgate/version.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "tool/bounded_text.h"
#include "tool/mcp_message.h"

namespace callgate::tool {
namespace {

constexpr std::size_t kMostName = 64;

bool is_object(std::string_view json) { return json.starts_with('{'); }

McpToolEntry read_tool(std::string_view json) {
  McpToolEntry tool;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return tool;
  std::string title;
  bool fits = true;
  for (std::string_view key; in.next_member(key);) {
    const bool is_string = in.peek() == json::Kind::string;
    if (key == "name" && is_string) {
      tool.name = in.string();
    } else if (key == "title" && is_string) {
      title = in.string();
    } else if (key == "description" && is_string) {
      tool.description = in.string();
    } else if (key == "inputSchema") {
      tool.schema = in.raw();
      fits = is_object(tool.schema);
    } else {
      in.skip();
    }
  }
  if (tool.description.empty()) tool.description = title;
  if (!fits || in.failed()) tool.name.clear();
  return tool;
}

// Appends parts with a line feed between them, and stops at the limit.
class PartWriter {
 public:
  explicit PartWriter(std::size_t limit) : text_(limit) {}
  void add(std::string_view part) {
    if (any_) text_.append("\n");
    any_ = true;
    text_.append(part);
  }
  bool any() const { return any_; }
  BoundedText& text() { return text_; }

 private:
  BoundedText text_;
  bool any_ = false;
};

std::size_t decoded_size(std::string_view base64) { return base64.size() / 4 * 3; }

std::string bytes_words(std::string_view kind, std::string_view json, std::string_view field) {
  std::string type = json::member_text(json, "mimeType");
  if (type.empty()) type = "of unknown type";
  return "[" + std::string(kind) + " " + type + ", about " +
         std::to_string(decoded_size(json::member_json(json, field))) + " bytes]";
}

void add_resource(std::string_view part, PartWriter& out) {
  const std::string_view resource = json::member_json(part, "resource");
  const std::string uri = json::member_text(resource, "uri");
  if (json::member_json(resource, "text").empty()) {
    return out.add(bytes_words("resource " + uri, resource, "blob"));
  }
  out.add("[resource " + uri + "]");
  out.add(json::member_text(resource, "text"));
}

// True when the part is text that a model reads as it is.
bool add_part(std::string_view part, PartWriter& out) {
  const std::string type = json::member_text(part, "type");
  if (type == "text") {
    out.add(json::member_text(part, "text"));
    return true;
  }
  if (type == "image" || type == "audio") {
    out.add(bytes_words(type, part, "data"));
  } else if (type == "resource") {
    add_resource(part, out);
  } else if (type == "resource_link") {
    const std::string description = json::member_text(part, "description");
    out.add("[link " + json::member_text(part, "name") + ": " + json::member_text(part, "uri") +
            "]" + (description.empty() ? "" : " " + description));
  } else {
    out.add("[content of type " + type + "]");
  }
  return false;
}

std::string wanted_input(std::string_view result) {
  std::string words = "the tool asks for input that callgate cannot give";
  json::Reader in(json::member_json(result, "inputRequests"));
  if (in.peek() != json::Kind::object) return words;
  for (std::string_view key; in.next_member(key);) {
    const std::string_view request = in.raw();
    words += ": " + json::member_text(request, "method");
    const std::string message = json::member_text(json::member_json(request, "params"), "message");
    if (!message.empty()) words += " (" + message + ")";
  }
  return words;
}

}  // namespace

McpToolPage read_tool_page(std::string_view result) {
  McpToolPage page;
  json::Reader in(json::member_json(result, "tools"));
  if (in.peek() != json::Kind::array) return page;
  while (in.next_element()) {
    McpToolEntry tool = read_tool(in.raw());
    if (!tool.name.empty()) page.tools.push_back(std::move(tool));
  }
  page.is_valid = in.finish();
  page.next_cursor = json::member_text(result, "nextCursor");
  return page;
}

McpHello read_hello(std::string_view result) {
  McpHello hello;
  if (std::string version = json::member_text(result, "protocolVersion"); !version.empty()) {
    hello.versions.push_back(std::move(version));
  }
  for (const char* name : {"supportedVersions", "supported"}) {
    json::Reader in(json::member_json(result, name));
    if (in.peek() != json::Kind::array) continue;
    while (in.next_element()) {
      json::Reader item(in.raw());
      if (item.peek() == json::Kind::string) hello.versions.emplace_back(item.string());
    }
  }
  const std::string_view tools =
      json::member_json(json::member_json(result, "capabilities"), "tools");
  hello.lists_changes = json::member_json(tools, "listChanged") == "true";
  return hello;
}

ToolResult read_call_result(std::string_view result, std::size_t limit) {
  if (!is_object(result)) return error_result("the server answered with no result object");
  const std::string type = json::member_text(result, "resultType");
  if (type == "input_required") return error_result(wanted_input(result));
  if (!type.empty() && type != "complete") {
    return error_result("the server answered with a result of unknown type " + type);
  }
  PartWriter out(limit);
  bool any_text = false;
  json::Reader in(json::member_json(result, "content"));
  if (in.peek() == json::Kind::array) {
    while (in.next_element()) any_text = add_part(in.raw(), out) || any_text;
  }
  const std::string_view structured = json::member_json(result, "structuredContent");
  if (!any_text && !structured.empty()) out.add(structured);
  ToolResult read;
  read.is_error = json::member_json(result, "isError") == "true";
  read.bytes = out.text().bytes();
  read.truncated = out.text().truncated();
  read.text = out.text().take();
  return read;
}

std::string client_words() {
  std::string out;
  json::ObjectWriter object(out);
  object.string("name", "callgate");
  object.string("version", kVersion);
  object.close();
  return out;
}

Result<std::string> result_of(const Result<std::string>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  const McpMessage message = read_mcp_message(*answer);
  if (message.kind == McpMessage::Kind::result) return std::string(message.result);
  Error refusal{
      .code = ErrorCode::upstream_failed,
      .message = "MCP error " + std::to_string(message.error_code) + ": " + message.error_message};
  refusal.upstream_code = std::to_string(message.error_code);
  return tl::unexpected(std::move(refusal));
}

std::int64_t error_code_of(const Result<std::string>& answer) {
  return answer ? read_mcp_message(*answer).error_code : 0;
}

std::string qualified_name(std::string_view server, std::string_view tool) {
  std::string name;
  bool exact = true;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';
      name.push_back(fine ? c : '_');
      exact = exact && fine;
    }
  };
  add(server);
  if (!server.empty()) name += "__";
  add(tool);
  if (exact && name.size() <= kMostName) return name;
  // FNV-1a of both, apart.
  std::uint32_t hash = 2166136261U;
  const std::string whole = std::string(server) + '\n' + std::string(tool);
  for (const char c : whole) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string suffix = "_";
  for (int shift = 28; shift >= 0; shift -= 4) suffix.push_back(kHex[(hash >> shift) & 15]);
  name.resize(std::min(name.size(), kMostName - suffix.size()));
  return name + suffix;
}

}  // namespace callgate::tool
