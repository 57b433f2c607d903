#include "chat/content.h"

#include <algorithm>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate {
namespace {

// data:image/png;base64,AA==
void take_url(std::string_view url, ContentPart& part) {
  constexpr std::string_view kMark = ";base64,";
  const std::size_t mark = url.find(kMark);
  if (!url.starts_with("data:") || mark == std::string_view::npos) {
    part.url = url;
    return;
  }
  part.media_type = url.substr(5, mark - 5);
  part.data = url.substr(mark + kMark.size());
}

// `image_url` is an object with a url, or the url itself.
void read_image(json::Reader& in, ContentPart& part) {
  if (in.peek() == json::Kind::string) return take_url(in.string(), part);
  if (in.peek() != json::Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    if (key == "url" && in.peek() == json::Kind::string) {
      take_url(in.string(), part);
    } else {
      in.skip();
    }
  }
}

ContentPart read_part(std::string_view json) {
  ContentPart part{.json = std::string(json)};
  json::Reader in(json);
  std::string type;
  for (std::string_view key; in.next_member(key);) {
    if (key == "type" && in.peek() == json::Kind::string) {
      type = in.string();
    } else if ((key == "text" || key == "refusal") && in.peek() == json::Kind::string) {
      part.text = in.string();
    } else if (key == "image_url") {
      read_image(in, part);
    } else {
      in.skip();
    }
  }
  if (type == "text" || type == "refusal" || type == "input_text" || type == "output_text") {
    part.kind = ContentPart::Kind::text;
  } else if (type == "image_url" || type == "input_image") {
    part.kind = ContentPart::Kind::image;
  }
  return part;
}

bool is_object(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

}  // namespace

std::vector<ContentPart> parts_of(const RawJson& content) {
  std::vector<ContentPart> parts;
  if (content.empty()) return parts;
  json::Reader in(content.text);
  if (in.peek() == json::Kind::string) {
    const std::string_view text = in.string();
    if (!text.empty()) {
      parts.push_back(
          {.kind = ContentPart::Kind::text, .text = std::string(text), .json = content.text});
    }
  } else if (in.peek() == json::Kind::array) {
    while (in.next_element()) parts.push_back(read_part(in.raw()));
  }
  return parts;
}

std::string text_of(const RawJson& content) {
  std::string text;
  bool first = true;
  for (const ContentPart& part : parts_of(content)) {
    if (part.kind != ContentPart::Kind::text) continue;
    if (!first) text.push_back('\n');
    first = false;
    text.append(part.text);
  }
  return text;
}

RawJson text_content(std::string_view text) {
  RawJson content;
  json::append_string(content.text, text);
  return content;
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::developer:
      return "developer";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return {};
}

std::string_view plain_role_name(Role role) {
  return role_name(role == Role::developer ? Role::system : role);
}

std::optional<Role> find_role(std::string_view name) {
  for (const Role role : {Role::system, Role::developer, Role::user, Role::assistant, Role::tool}) {
    if (role_name(role) == name) return role;
  }
  return std::nullopt;
}

bool is_prompt(const Message& message) {
  return message.role == Role::system || message.role == Role::developer;
}

std::string_view find_field(const std::vector<ExtraField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const ExtraField& field) { return field.name == name; });
  if (found == fields.end() || found->value.text == "null") return {};
  return found->value.text;
}

std::string field_text(const std::vector<ExtraField>& fields, std::string_view name) {
  const std::string_view json = find_field(fields, name);
  json::Reader in(json);
  return std::string(in.peek() == json::Kind::string ? in.string() : json);
}

bool is_ascii_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

void append_arguments_object(std::string& out, std::string_view arguments) {
  if (is_ascii_blank(arguments)) {
    out.append("{}");
  } else if (is_object(arguments)) {
    out.append(arguments);
  } else {
    json::ObjectWriter object(out);
    object.string("raw", arguments);
    object.close();
  }
}

}  // namespace callgate
