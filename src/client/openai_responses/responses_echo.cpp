#include "client/openai_responses/responses_echo.h"

#include <array>
#include <utility>

#include "client/answer_parts.h"
#include "client/openai_chat/openai_usage.h"
#include "json/member.h"
#include "json/reader.h"

namespace callgate::client {
namespace {

struct EchoedField {
  std::string_view name;
  std::string_view otherwise;  // where it is not given
};

constexpr std::array<EchoedField, 21> kEchoedFields = {{
    {"background", "false"},
    {"conversation", "null"},
    {"frequency_penalty", "0"},
    {"instructions", "null"},
    {"max_output_tokens", "null"},
    {"max_tool_calls", "null"},
    {"metadata", "{}"},
    {"parallel_tool_calls", "true"},
    {"presence_penalty", "0"},
    {"previous_response_id", "null"},
    {"prompt", "null"},
    {"prompt_cache_key", "null"},
    {"prompt_cache_retention", "null"},
    {"safety_identifier", "null"},
    {"store", "true"},
    {"temperature", "1"},
    {"tool_choice", "\"auto\""},
    {"top_logprobs", "0"},
    {"top_p", "1"},
    {"truncation", "\"disabled\""},
    {"user", "null"},
}};

// The given object with the members that it lacks: `rows` of names and their values.
template <std::size_t N>
void append_filled(std::string& out, std::string_view given,
                   const std::array<EchoedField, N>& rows) {
  std::array<bool, N> found = {};
  json::ObjectWriter object(out);
  json::Reader in(given);
  if (!given.empty() && in.peek() == json::Kind::object) {
    for (std::string_view key; in.next_member(key);) {
      const std::string name(key);
      const std::string_view value = in.raw();
      if (value != "null") object.raw_escaped(name, value);
      for (std::size_t i = 0; i < N; ++i) {
        if (rows[i].name == name) found[i] = value != "null";
      }
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (!found[i]) object.raw(rows[i].name, rows[i].otherwise);
  }
  object.close();
}

void append_tools(std::string& out, std::string_view tools) {
  static constexpr std::array<EchoedField, 3> kFunction = {
      {{"description", "null"}, {"parameters", "null"}, {"strict", "null"}}};
  out.push_back('[');
  json::Reader in(tools);
  if (!tools.empty() && in.peek() == json::Kind::array) {
    while (in.next_element()) {
      const std::string_view tool = in.raw();
      if (out.back() != '[') out.push_back(',');
      if (json::given_member(tool, "type") == "\"function\"") {
        append_filled(out, tool, kFunction);
      } else {
        out.append(tool);
      }
    }
  }
  out.push_back(']');
}

// The members that are repeated, in one pass over the body.
struct GivenFields {
  std::array<std::string_view, kEchoedFields.size()> plain;
  std::string_view reasoning;
  std::string_view service_tier;
  std::string_view text;
  std::string_view tools;

  explicit GivenFields(std::string_view body) {
    json::Reader in(body);
    if (body.empty() || in.peek() != json::Kind::object) return;
    for (std::string_view key; in.next_member(key);) {
      std::string_view* field = find(key);
      if (field == nullptr) {
        in.skip();
        continue;
      }
      const std::string_view value = in.raw();
      if (value != "null") *field = value;
    }
  }

  std::string_view* find(std::string_view key) {
    for (std::size_t i = 0; i < kEchoedFields.size(); ++i) {
      if (kEchoedFields[i].name == key) return &plain[i];
    }
    if (key == "reasoning") return &reasoning;
    if (key == "service_tier") return &service_tier;
    if (key == "text") return &text;
    return key == "tools" ? &tools : nullptr;
  }
};

}  // namespace

ResponsesEcho::ResponsesEcho(const Request& request, const ResponseIdentity& identity)
    : created_(identity.created) {
  json::ObjectWriter head(identity_);
  head.string("id", identity.id);
  head.string("object", "response");
  head.integer("created_at", identity.created);
  head.string("model", identity.model);

  static constexpr std::array<EchoedField, 2> kReasoning = {
      {{"effort", "null"}, {"summary", "null"}}};
  static constexpr std::array<EchoedField, 2> kText = {
      {{"format", R"({"type":"text"})"}, {"verbosity", "\"medium\""}}};
  const GivenFields given(request.body.text);
  std::string settings;
  json::ObjectWriter object(settings);
  for (std::size_t i = 0; i < kEchoedFields.size(); ++i) {
    object.raw(kEchoedFields[i].name,
               given.plain[i].empty() ? kEchoedFields[i].otherwise : given.plain[i]);
  }
  append_filled(object.key("reasoning"), given.reasoning, kReasoning);
  append_filled(object.key("text"), given.text, kText);
  append_tools(object.key("tools"), given.tools);
  settings.front() = ',';
  append_json_line(settings_, settings);
  service_tier_ = given.service_tier.empty() || given.service_tier == "\"auto\""
                      ? "\"default\""
                      : std::string(given.service_tier);
}

void ResponsesEcho::append(std::string& out, const Standing& standing) const {
  out.append(identity_).append(",\"status\":\"").append(standing.status).append("\"");
  out.append(",\"completed_at\":");
  if (standing.completed) {
    json::append_integer(out, created_);
  } else {
    out.append("null");
  }
  out.append(",\"error\":").append(standing.error);
  out.append(",\"incomplete_details\":").append(standing.incomplete);
  out.append(",\"output\":[").append(standing.output).append("]");
  out.append(",\"usage\":").append(standing.usage);
  out.append(",\"service_tier\":").append(service_tier_);
  out.append(settings_).append(standing.more).append("}");
}

}  // namespace callgate::client
