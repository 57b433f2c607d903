#include "script/reply/codex_request.h"

#include "json/each.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::script {
namespace {

// Parts in the form of Chat Completions; a lone text is a string.
RawJson codex_content(std::string_view parts) {
  std::string list = "[";
  std::string only;
  int count = 0;
  bool has_image = false;
  json::each_element(parts, [&](std::string_view part) {
    if (count++ > 0) list.push_back(',');
    json::ObjectWriter object(list);
    std::string url = json::member_text(part, "image_url");
    if (url.empty()) url = json::member_text(part, "url");
    if (url.empty()) {
      only = json::member_text(part, "text");
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

}  // namespace

Request codex_thread_request(std::string_view params) {
  Request request{
      .model = json::member_text(params, "model"), .stream = true, .include_usage = true};
  if (const std::string system = json::member_text(params, "baseInstructions"); !system.empty()) {
    Message message{.role = Role::system};
    json::append_string(message.content.text, system);
    request.messages.push_back(std::move(message));
  }
  json::each_element(json::given_member(params, "dynamicTools"), [&](std::string_view tool) {
    request.tools.push_back({.name = json::member_text(tool, "name"),
                             .description = json::member_text(tool, "description"),
                             .parameters = {std::string(json::given_member(tool, "inputSchema"))}});
  });
  return request;
}

void add_codex_input(Request& request, std::string_view input) {
  if (input == "[]") return;
  request.messages.push_back({.role = Role::user, .content = codex_content(input)});
}

}  // namespace callgate::script
