#include "upstream/request_parts.h"

#include <algorithm>
#include <array>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::upstream {
namespace {

// Fields that say who asks, how it is billed or where it is kept: leaving them out changes no answer. Nor does
// parallel_tool_calls: where it is false, callgate itself lets only one call pass.
constexpr std::array<std::string_view, 9> kAside = {"metadata",
                                                    "parallel_tool_calls",
                                                    "prompt_cache_key",
                                                    "prompt_cache_retention",
                                                    "safety_identifier",
                                                    "service_tier",
                                                    "store",
                                                    "stream_options",
                                                    "user"};

// Fields that clients send although they ask for nothing.
struct Idle {
  std::string_view name;
  std::string_view value;
};
constexpr std::array<Idle, 8> kIdle = {{{"frequency_penalty", "0"},
                                        {"frequency_penalty", "0.0"},
                                        {"logit_bias", "{}"},
                                        {"logprobs", "false"},
                                        {"modalities", "[\"text\"]"},
                                        {"presence_penalty", "0"},
                                        {"presence_penalty", "0.0"},
                                        {"response_format", "{\"type\":\"text\"}"}}};

bool is_idle(const ExtraField& field) {
  if (field.value.text == "null") return true;
  return std::any_of(kIdle.begin(), kIdle.end(), [&](const Idle& idle) {
    return idle.name == field.name && idle.value == field.value.text;
  });
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_object(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

// data:image/png;base64,AA==
void take_url(std::string_view url, Part& part) {
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
void read_image(json::Reader& in, Part& part) {
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

Part read_part(std::string_view json) {
  Part part{.json = std::string(json)};
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
    part.kind = Part::Kind::text;
  } else if (type == "image_url" || type == "input_image") {
    part.kind = Part::Kind::image;
  }
  return part;
}

}  // namespace

std::vector<Part> parts_of(const RawJson& content) {
  std::vector<Part> parts;
  if (content.empty()) return parts;
  json::Reader in(content.text);
  if (in.peek() == json::Kind::string) {
    const std::string_view text = in.string();
    if (!text.empty()) {
      parts.push_back({.kind = Part::Kind::text, .text = std::string(text), .json = content.text});
    }
  } else if (in.peek() == json::Kind::array) {
    while (in.next_element()) parts.push_back(read_part(in.raw()));
  }
  return parts;
}

std::string text_of(const RawJson& content) {
  std::string text;
  bool first = true;
  for (const Part& part : parts_of(content)) {
    if (part.kind != Part::Kind::text) continue;
    if (!first) text.push_back('\n');
    first = false;
    text.append(part.text);
  }
  return text;
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

std::string_view member_of(std::string_view object, std::string_view name) {
  json::Reader in(object);
  if (in.peek() != json::Kind::object) return {};
  std::string_view found;
  for (std::string_view key; in.next_member(key);) {
    const bool wanted = key == name && in.peek() != json::Kind::null;
    const std::string_view value = in.raw();
    if (wanted) found = value;
  }
  return found;
}

std::string_view raw_field(const std::vector<ExtraField>& fields, std::string_view name) {
  const RawJson* value = find_field(fields, name);
  return value == nullptr ? std::string_view() : std::string_view(value->text);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

void append_arguments_object(std::string& out, std::string_view arguments) {
  if (is_blank(arguments)) {
    out.append("{}");
  } else if (is_object(arguments)) {
    out.append(arguments);
  } else {
    json::ObjectWriter object(out);
    object.string("raw", arguments);
    object.close();
  }
}

void append_object_schema(std::string& out, std::string_view schema) {
  if (schema.empty()) {
    out.append(R"({"type":"object","properties":{}})");
  } else if (!member_of(schema, "type").empty() || !schema.starts_with('{')) {
    out.append(schema);
  } else {
    const bool empty = is_blank(schema.substr(1, schema.size() - 2));
    out.append(R"({"type":"object")").append(empty ? "" : ",").append(schema.substr(1));
  }
}

const RawJson* find_field(const std::vector<ExtraField>& fields, std::string_view name) {
  for (const ExtraField& field : fields) {
    if (field.name == name) return field.value.text == "null" ? nullptr : &field.value;
  }
  return nullptr;
}

std::string field_text(const std::vector<ExtraField>& fields, std::string_view name) {
  const RawJson* value = find_field(fields, name);
  if (value == nullptr) return {};
  json::Reader in(value->text);
  return in.peek() == json::Kind::string ? std::string(in.string()) : value->text;
}

std::vector<DroppedField> fields_left_behind(const Request& request,
                                             std::span<const std::string_view> carried) {
  std::vector<DroppedField> dropped;
  const auto check = [&](std::string_view name, bool given) {
    if (!given || contains(carried, name)) return;
    dropped.push_back({std::string(name), !contains(kAside, name)});
  };
  check("n", request.choices > 1);
  check("tool_choice", request.tool_choice.mode != ToolChoice::Mode::unset &&
                           request.tool_choice.mode != ToolChoice::Mode::automatic);
  check("parallel_tool_calls", !request.parallel_tool_calls.value_or(true));
  check("other_tools", !request.other_tools.empty());
  for (const ExtraField& field : request.extra) check(field.name, !is_idle(field));
  return dropped;
}

std::vector<DroppedField> fields_left_behind(const Request& request,
                                             std::span<const RequestField> fields) {
  std::vector<std::string_view> carried;
  for (const RequestField& field : fields) {
    if (field.carried) carried.push_back(field.name);
  }
  return fields_left_behind(request, carried);
}

void add_key(UpstreamRequest& request, const EncodeOptions& options, std::string_view own) {
  if (options.key.empty()) return;
  const std::string_view how = options.auth.empty() ? own : options.auth;
  if (how == "bearer") {
    request.headers.emplace_back("authorization", "Bearer " + std::string(options.key));
  } else {
    request.headers.emplace_back(how, options.key);
  }
}

}  // namespace callgate::upstream
