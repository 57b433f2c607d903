#include "script/codex_request.h"

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::script {
namespace {

std::string_view member(std::string_view object, std::string_view name) {
  json::Reader in(object);
  std::string_view found;
  if (object.empty() || in.peek() != json::Kind::object) return found;
  for (std::string_view key; in.next_member(key);) {
    const std::string_view value = key == name ? in.raw() : (in.skip(), std::string_view());
    if (!value.empty()) found = value;
  }
  return found;
}

std::string text(std::string_view object, std::string_view name) {
  const std::string_view json = member(object, name);
  json::Reader in(json);
  return json.empty() || in.peek() != json::Kind::string ? "" : std::string(in.string());
}

template <class Use>
void each(std::string_view array, Use use) {
  json::Reader in(array);
  if (array.empty() || in.peek() != json::Kind::array) return;
  while (in.next_element()) use(in.raw());
}

// Parts in the form of Chat Completions; a lone text is a string.
RawJson content_of(std::string_view parts) {
  std::string list = "[";
  std::string only;
  int count = 0;
  bool has_image = false;
  each(parts, [&](std::string_view part) {
    if (count++ > 0) list.push_back(',');
    json::ObjectWriter object(list);
    std::string url = text(part, "image_url");
    if (url.empty()) url = text(part, "url");
    if (url.empty()) {
      only = text(part, "text");
      object.string("type", "text");
      object.string("text", only);
    } else {
      has_image = true;
      object.string("type", "image_url");
      json::ObjectWriter image(object.key("image_url"));
      image.string("url", url);
      image.close();
    }
    object.close();
  });
  RawJson content;
  if (count == 1 && !has_image) {
    json::append_string(content.text, only);
  } else {
    content.text = list + "]";
  }
  return content;
}

Message& assistant(Request& request) {
  if (request.messages.empty() || request.messages.back().role != Role::assistant) {
    request.messages.push_back({.role = Role::assistant});
  }
  return request.messages.back();
}

void add_message(Request& request, std::string_view item) {
  const std::string role = text(item, "role");
  if (role == "assistant") {
    assistant(request).content = content_of(member(item, "content"));
    return;
  }
  const Role who = role == "developer" ? Role::developer : Role::user;
  request.messages.push_back({.role = who, .content = content_of(member(item, "content"))});
}

}  // namespace

Request codex_thread_request(std::string_view params) {
  Request request{.model = text(params, "model"), .stream = true, .include_usage = true};
  if (const std::string system = text(params, "baseInstructions"); !system.empty()) {
    Message message{.role = Role::system};
    json::append_string(message.content.text, system);
    request.messages.push_back(std::move(message));
  }
  each(member(params, "dynamicTools"), [&](std::string_view tool) {
    request.tools.push_back({.name = text(tool, "name"),
                             .description = text(tool, "description"),
                             .parameters = {std::string(member(tool, "inputSchema"))}});
  });
  return request;
}

void add_codex_items(Request& request, std::string_view items) {
  each(items, [&](std::string_view item) {
    const std::string type = text(item, "type");
    if (type == "message") {
      add_message(request, item);
    } else if (type == "function_call") {
      assistant(request).calls.push_back({.id = text(item, "call_id"),
                                          .name = text(item, "name"),
                                          .arguments = text(item, "arguments")});
    } else if (type == "function_call_output") {
      Message message{.role = Role::tool, .tool_call_id = text(item, "call_id")};
      message.content.text = member(item, "output");
      request.messages.push_back(std::move(message));
    }
  });
}

void add_codex_input(Request& request, std::string_view input) {
  if (input == "[]") return;
  request.messages.push_back({.role = Role::user, .content = content_of(input)});
}

}  // namespace callgate::script
