#include "upstream/request_parts.h"

#include <algorithm>
#include <array>

#include "json/member.h"
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

}  // namespace

void append_object_schema(std::string& out, std::string_view schema) {
  if (schema.empty()) {
    out.append(R"({"type":"object","properties":{}})");
  } else if (!json::given_member(schema, "type").empty() || !schema.starts_with('{')) {
    out.append(schema);
  } else {
    const bool empty = is_ascii_blank(schema.substr(1, schema.size() - 2));
    out.append(R"({"type":"object")").append(empty ? "" : ",").append(schema.substr(1));
  }
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
