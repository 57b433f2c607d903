#include "script/message_text.h"

#include <algorithm>

#include "json/reader.h"

namespace callgate::script {
namespace {

std::string part_text(json::Reader& in) {
  if (in.peek() == json::Kind::string) return std::string(in.string());
  if (in.peek() != json::Kind::object) {
    in.skip();
    return {};
  }
  std::string text;
  for (std::string_view key; in.next_member(key);) {
    if (key == "text" && in.peek() == json::Kind::string) {
      text = in.string();
    } else {
      in.skip();
    }
  }
  return text;
}

}  // namespace

std::string any_text_of(const RawJson& content) {
  if (content.empty()) return {};
  json::Reader in(content.text);
  switch (in.peek()) {
    case json::Kind::string:
      return std::string(in.string());
    case json::Kind::null:
    case json::Kind::invalid:
      return {};
    case json::Kind::object:
    case json::Kind::number:
    case json::Kind::boolean:
      return content.text;
    case json::Kind::array:
      break;
  }
  std::string joined;
  while (in.next_element()) {
    const std::string text = part_text(in);
    if (!text.empty() && !joined.empty()) joined.push_back('\n');
    joined += text;
  }
  return joined;
}

std::string last_text(const Request& request, Role role) {
  const auto found = std::find_if(request.messages.rbegin(), request.messages.rend(),
                                  [&](const Message& message) { return message.role == role; });
  return found == request.messages.rend() ? std::string() : any_text_of(found->content);
}

std::uint32_t turn_number(const Request& request) {
  return static_cast<std::uint32_t>(
      std::count_if(request.messages.begin(), request.messages.end(),
                    [](const Message& message) { return message.role == Role::assistant; }));
}

std::int64_t count_of(std::size_t bytes) { return static_cast<std::int64_t>((bytes + 3) / 4); }

std::int64_t prompt_count(const Request& request) {
  std::size_t bytes = 0;
  for (const Message& message : request.messages) {
    bytes += message.content.text.size();
    for (const CallRecord& call : message.calls) bytes += call.name.size() + call.arguments.size();
  }
  for (const ToolSpec& tool : request.tools) {
    bytes += tool.name.size() + tool.description.size() + tool.parameters.text.size();
  }
  return count_of(bytes);
}

}  // namespace callgate::script
