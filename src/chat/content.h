// The parts of a canonical message, whose JSON is that of Chat Completions: content, roles, and fields by name.
//
//   "content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate {

struct ContentPart {
  enum class Kind : std::uint8_t { text, image, other };
  Kind kind = Kind::other;
  std::string text;        // kind text
  std::string url;         // an image that is elsewhere
  std::string media_type;  // an image that is here, such as image/png
  std::string data;        // ... in base64
  std::string json;        // the part as it was written
};

// A string is one text part. Null, an empty string, and content that is not given have no parts.
std::vector<ContentPart> parts_of(const RawJson& content);

// The text parts, one per line.
std::string text_of(const RawJson& content);
// The reverse: text as content.
RawJson text_content(std::string_view text);

std::string_view role_name(Role role);
// The same for a format without the role developer.
std::string_view plain_role_name(Role role);
std::optional<Role> find_role(std::string_view name);
// A system prompt, under either of its roles.
bool is_prompt(const Message& message);

// The JSON of the first field with that name; empty when it is missing or null.
std::string_view find_field(const std::vector<ExtraField>& fields, std::string_view name);
// The same as text: a string unescaped, anything else as JSON.
std::string field_text(const std::vector<ExtraField>& fields, std::string_view name);

// Nothing but ASCII's white space: JSON's, form feeds and vertical tabs.
bool is_ascii_blank(std::string_view text);

// The arguments of a call as the JSON object that some formats want: {} for none, {"raw": "..."} for what is no object.
void append_arguments_object(std::string& out, std::string_view arguments);

}  // namespace callgate
