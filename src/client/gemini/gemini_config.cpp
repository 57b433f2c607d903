// Tools and settings of a GenerateContentRequest.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "client/gemini/gemini_request.h"
#include "client/openai_chat/tool_reader.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

struct GeminiSetting {
  std::string_view name;
  std::string_view field;  // of the canonical request
};
constexpr auto kGeminiSettings = std::to_array<GeminiSetting>({
    {"temperature", "temperature"},
    {"topP", "top_p"},
    {"topK", "top_k"},
    {"seed", "seed"},
    {"maxOutputTokens", "max_tokens"},
    {"presencePenalty", "presence_penalty"},
    {"frequencyPenalty", "frequency_penalty"},
    {"logprobs", "top_logprobs"},
});

// Tokens to think with -> an effort. -1 leaves it to the model.
std::string_view effort_of_budget(std::int64_t tokens) {
  if (tokens < 0) return {};
  if (tokens == 0) return "none";
  if (tokens <= 2048) return "low";
  return tokens <= 12'288 ? "medium" : "high";
}

enum class SchemaPlace : std::uint8_t { schema, names };

// The API's schemas name types in capitals: "OBJECT". JSON schema does not. `names`: the keys are names of properties, not
// words of a schema.
void append_plain_schema(std::string& out, json::Reader& in, SchemaPlace place) {
  if (in.peek() == json::Kind::array) {
    out.push_back('[');
    for (bool first = true; in.next_element(); first = false) {
      if (!first) out.push_back(',');
      append_plain_schema(out, in, SchemaPlace::schema);
    }
    return out.push_back(']');
  }
  if (in.peek() != json::Kind::object) {
    out.append(in.raw());
    return;
  }
  json::ObjectWriter object(out);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    std::string escaped;
    json::append_escaped(escaped, name);
    std::string& value = object.key(escaped);
    const bool word = place == SchemaPlace::schema;
    if (word && name == "type" && in.peek() == json::Kind::string) {
      value.append(to_lower(in.raw()));
    } else if (word && (name == "default" || name == "example" || name == "enum")) {
      value.append(in.raw());  // data, whatever it looks like
    } else {
      append_plain_schema(value, in,
                          word && name == "properties" ? SchemaPlace::names : SchemaPlace::schema);
    }
  }
  object.close();
}

void append_plain_schema(std::string& out, std::string_view schema) {
  json::Reader in(schema);
  append_plain_schema(out, in, SchemaPlace::schema);
}

}  // namespace

bool GeminiRequestReader::read_tools() {
  if (in_.peek() != json::Kind::array) return fault_kind({"tools"}, "an array of tools");
  request_.tools.clear();
  request_.other_tools.clear();
  for (std::size_t i = 0; in_.next_element(); ++i) {
    if (i == kMaxTools) return fault({"tools"}, "too many", "at most 4096");
    if (!read_tool(i)) return false;
  }
  return true;
}

// {"functionDeclarations":[...]}, or a tool that the API runs itself: {"googleSearch":{}}
bool GeminiRequestReader::read_tool(std::size_t index) {
  const FieldPath path{"tools", index};
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  for (std::string_view key; in_.next_member(key);) {
    const std::string name = gemini_name(key);
    if (is_null()) {
      in_.null();
    } else if (name == "functionDeclarations") {
      if (!read_declarations(path.with("functionDeclarations"))) return false;
    } else {
      std::string tool;
      json::ObjectWriter object(tool);
      object.string("type", name);
      object.raw_escaped(name, in_.raw());
      object.close();
      request_.other_tools.push_back({std::move(tool)});
    }
  }
  return true;
}

bool GeminiRequestReader::read_declarations(FieldPath path) {
  if (in_.peek() != json::Kind::array) return fault_kind(path, "an array of functions");
  for (std::size_t i = 0; in_.next_element(); ++i) {
    path.inner_index = i;
    if (request_.tools.size() == kMaxTools) return fault({"tools"}, "too many", "at most 4096");
    if (!read_declaration(path)) return false;
  }
  return true;
}

bool GeminiRequestReader::read_declaration(const FieldPath& path) {
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  ToolSpec& tool = request_.tools.emplace_back();
  for (std::string_view key; in_.next_member(key);) {
    const std::string name = gemini_name(key);
    if (is_null()) {
      in_.null();
    } else if (name == "name") {
      if (!read_string(path.with("name"), tool.name)) return false;
    } else if (name == "description") {
      if (!read_string(path.with("description"), tool.description)) return false;
    } else if (name == "parameters" || name == "parametersJsonSchema") {
      if (in_.peek() != json::Kind::object) return fault_kind(path.with(name), "a schema");
      tool.parameters.text.clear();
      if (name == "parameters") {
        append_plain_schema(tool.parameters.text, in_.raw());
      } else {
        tool.parameters.text = in_.raw();
      }
    } else {
      in_.skip();
    }
  }
  ToolReader check(in_);
  if (check.check_tool(path, tool)) return true;
  error_ = check.take_error();
  return false;
}

bool GeminiRequestReader::read_tool_config() {
  if (in_.peek() != json::Kind::object) return fault_kind({"toolConfig"}, "an object");
  const std::string_view raw = in_.raw();
  json::Reader outer = std::exchange(in_, json::Reader(raw));
  bool mapped = true;
  bool good = true;
  for (std::string_view key; good && in_.next_member(key);) {
    if (gemini_name(key) == "functionCallingConfig" && !is_null()) {
      good = read_calling_config(FieldPath{"toolConfig"}.with("functionCallingConfig"), mapped);
    } else {
      mapped = false;
      in_.skip();
    }
  }
  in_ = std::move(outer);
  if (good && !mapped) request_.extra.push_back({"toolConfig", {std::string(raw)}});
  return good;
}

// `mapped` becomes false if it says more than a canonical request can.
bool GeminiRequestReader::read_calling_config(const FieldPath& path, bool& mapped) {
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  std::string mode;
  allowed_.clear();
  for (std::string_view key; in_.next_member(key);) {
    const std::string name = gemini_name(key);
    if (is_null()) {
      in_.null();
    } else if (name == "mode") {
      if (!read_string(path.with("mode"), mode)) return false;
    } else if (name == "allowedFunctionNames") {
      if (in_.peek() != json::Kind::array) return fault_kind(path.with(name), "an array of names");
      while (in_.next_element()) {
        if (!read_string(path.with(name), allowed_.emplace_back())) return false;
      }
    } else {
      mapped = false;
      in_.skip();
    }
  }
  if (allowed_.size() > 1) mapped = false;
  return take_mode(path.with("mode"), mode, mapped);
}

bool GeminiRequestReader::take_mode(const FieldPath& path, std::string_view mode, bool& mapped) {
  using Mode = ToolChoice::Mode;
  ToolChoice& choice = request_.tool_choice;
  choice = {};
  if (mode.empty() || mode == "MODE_UNSPECIFIED") {
    return true;
  }
  if (mode == "AUTO" || mode == "VALIDATED") {
    choice.mode = Mode::automatic;
    mapped = mapped && mode == "AUTO";
  } else if (mode == "NONE") {
    choice.mode = Mode::none;
  } else if (mode == "ANY" && allowed_.size() == 1) {
    choice.mode = Mode::named;
    choice.name = allowed_.front();
  } else if (mode == "ANY") {
    choice.mode = Mode::required;
  } else {
    std::string found;
    json::append_string(found, mode.substr(0, 64));
    return fault(path, found, "AUTO|ANY|NONE|VALIDATED");
  }
  return true;
}

bool GeminiRequestReader::read_config() {
  if (in_.peek() != json::Kind::object) return fault_kind({"generationConfig"}, "an object");
  for (std::string_view key; in_.next_member(key);) {
    const std::string own(key);
    if (is_null()) {
      in_.null();
    } else if (!read_config_field(own, gemini_name(own))) {
      return false;
    }
  }
  return true;
}

bool GeminiRequestReader::read_config_field(std::string_view key, const std::string& name) {
  const FieldPath path = FieldPath{"generationConfig"}.with(name);
  for (const GeminiSetting& setting : kGeminiSettings) {
    if (setting.name == name) return read_number(path, setting.field);
  }
  if (name == "stopSequences") return read_stops(path);
  if (name == "candidateCount") return read_candidate_count(path);
  if (name == "responseMimeType") return read_string(path, mime_type_);
  if (name == "thinkingConfig") return read_thinking(path);
  if (name == "responseSchema" || name == "responseJsonSchema") {
    if (in_.peek() != json::Kind::object) return fault_kind(path, "a schema");
    schema_ = in_.raw();
    return true;
  }
  if (name == "responseLogprobs") {
    bool wanted = false;
    if (!read_boolean(path, wanted)) return false;
    if (wanted) request_.extra.push_back({"logprobs", {"true"}});
    return true;
  }
  others_.push_back(others_.empty() ? '{' : ',');
  json::append_string(others_, key);
  others_.append(":").append(in_.raw());
  return true;
}

bool GeminiRequestReader::read_number(const FieldPath& path, std::string_view field) {
  if (in_.peek() != json::Kind::number) return fault_kind(path, "a number");
  const bool limit = field == "max_tokens";
  if (limit && json::Reader(in_).integer().value_or(0) < 1) {
    return fault(path, in_.raw(), "a whole number of at least 1");
  }
  request_.extra.push_back({std::string(field), {std::string(in_.number())}});
  return true;
}

bool GeminiRequestReader::read_stops(const FieldPath& path) {
  if (in_.peek() != json::Kind::array) return fault_kind(path, "an array of strings");
  return keep_texts(request_.extra, "stop", path);
}

bool GeminiRequestReader::read_candidate_count(const FieldPath& path) {
  constexpr std::int64_t kMost = 128;
  if (in_.peek() != json::Kind::number) return fault_kind(path, "a whole number from 1 to 128");
  const auto count = in_.integer();
  if (!count || *count < 1 || *count > kMost) {
    return fault(path, "out of range", "a whole number from 1 to 128");
  }
  request_.choices = static_cast<std::uint32_t>(*count);
  return true;
}

// {"thinkingBudget":1024} or {"thinkingLevel":"LOW"} -> reasoning_effort
bool GeminiRequestReader::read_thinking(const FieldPath& path) {
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  std::string effort;
  for (std::string_view key; in_.next_member(key);) {
    const std::string name = gemini_name(key);
    if (name == "thinkingLevel" && in_.peek() == json::Kind::string) {
      effort = to_lower(in_.string());
    } else if (name == "thinkingBudget" && in_.peek() == json::Kind::number) {
      effort = effort_of_budget(in_.integer().value_or(-1));
    } else {
      in_.skip();
    }
  }
  if (effort.empty() || effort == "thinking_level_unspecified") return true;
  std::string value;
  json::append_string(value, effort);
  request_.extra.push_back({"reasoning_effort", {std::move(value)}});
  return true;
}

void GeminiRequestReader::add_format() {
  if (schema_.empty()) {
    if (mime_type_ != "application/json") return;
    request_.extra.push_back({"response_format", {R"({"type":"json_object"})"}});
    return;
  }
  std::string format = R"({"type":"json_schema","json_schema":{"name":"answer","schema":)";
  append_plain_schema(format, schema_);
  request_.extra.push_back({"response_format", {format + "}}"}});
}

}  // namespace callgate::client
