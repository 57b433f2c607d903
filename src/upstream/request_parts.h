// What a wire format needs to know of a canonical request, whose JSON is in the form of Chat Completions: the parts of a
// message's content, fields by name, and the fields that are left behind.
//
//   "content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

struct Part {
  enum class Kind : std::uint8_t { text, image, other };
  Kind kind = Kind::other;
  std::string text;        // kind text
  std::string url;         // an image that is elsewhere
  std::string media_type;  // an image that is here, such as image/png
  std::string data;        // ... in base64
  std::string json;        // the part as it was written
};

// A string is one text part; null, an empty string and nothing are none.
std::vector<Part> parts_of(const RawJson& content);

// The text parts, one per line.
std::string text_of(const RawJson& content);

std::string_view role_name(Role role);
// The same for a format that has no developers.
std::string_view plain_role_name(Role role);

bool is_blank(std::string_view text);

// JSON of a member of an object, or of a field; empty when it is missing or null.
std::string_view member_of(std::string_view object, std::string_view name);
std::string_view raw_field(const std::vector<ExtraField>& fields, std::string_view name);

// The arguments of a call as the JSON object that some formats want: {} for none, {"raw": "..."} for what is no object.
void append_arguments_object(std::string& out, std::string_view arguments);
// The schema of a tool's parameters, with its type said.
void append_object_schema(std::string& out, std::string_view schema);

// The value of a field, or nullptr when it is not there or null.
const RawJson* find_field(const std::vector<ExtraField>& fields, std::string_view name);
// The same as text: a string unescaped, anything else as JSON. Empty when it is not there.
std::string field_text(const std::vector<ExtraField>& fields, std::string_view name);

// What happens to a field of a request; docs/upstreams.md has the same table.
struct RequestField {
  std::string_view name;
  bool carried = true;  // false: reported as dropped
  std::string_view effect;
};

// The top-level fields of a request that are not among those `carried`, but for values that ask for nothing. `n`, `tool_choice`, `parallel_tool_calls`
// and `other_tools` go by these names.
std::vector<DroppedField> fields_left_behind(const Request& request,
                                             std::span<const std::string_view> carried);
std::vector<DroppedField> fields_left_behind(const Request& request,
                                             std::span<const RequestField> fields);

// The header that carries the key, if there is one: `own` is the wire format's way, bearer or the name of a header.
void add_key(UpstreamRequest& request, const EncodeOptions& options, std::string_view own);

}  // namespace callgate::upstream
