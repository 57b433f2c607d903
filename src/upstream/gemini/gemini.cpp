#include "upstream/gemini/gemini.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "json/each.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/gemini/gemini_conversation.h"
#include "upstream/gemini/gemini_decoder.h"
#include "upstream/gemini/gemini_error.h"

namespace callgate::upstream {
namespace {

// Fields of the API itself.
constexpr std::array<std::string_view, 3> kGeminiNative = {"safetySettings", "cachedContent",
                                                           "labels"};

// Tools that the server runs: {"type":"googleSearch","googleSearch":{}}
constexpr auto kServerTools = std::to_array<std::string_view>(
    {"codeExecution", "computerUse", "enterpriseWebSearch", "fileSearch", "googleMaps",
     "googleSearch", "googleSearchRetrieval", "retrieval", "urlContext"});

// Members of generationConfig that have the same meaning, and mostly another name.
struct Renamed {
  std::string_view field;
  std::string_view name;
};
constexpr auto kRenamed = std::to_array<Renamed>({
    {"temperature", "temperature"},
    {"top_p", "topP"},
    {"top_k", "topK"},
    {"seed", "seed"},
    {"presence_penalty", "presencePenalty"},
    {"frequency_penalty", "frequencyPenalty"},
    {"top_logprobs", "logprobs"},
});

std::string gemini_string(std::string_view json) {
  json::Reader in(json);
  return in.peek() == json::Kind::string ? std::string(in.string()) : std::string();
}

// Only what may stand in a path; what an id should not have is escaped.
void append_path(std::string& out, std::string_view id) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kMarks = "-._~/@";
  for (const char c : id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || kMarks.find(c) != std::string_view::npos) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
}

// The client speaks this format as well.
bool is_gemini(const Request& request) { return request.origin == "gemini"; }

bool is_gemini_field(std::string_view name) {
  const std::span<const RequestField> fields = gemini_fields();
  return std::any_of(fields.begin(), fields.end(),
                     [&](const RequestField& field) { return field.name == name; });
}

class GeminiBody {
 public:
  GeminiBody(const Request& request, std::string_view model, UpstreamRequest& encoded)
      : request_(request),
        model_(model),
        dropped_(encoded.dropped),
        text_(encoded.body),
        object_(encoded.body),
        origin_(is_gemini(request) ? std::string_view(request.body.text) : std::string_view()),
        own_config_(origin_.empty() ? field("generationConfig")
                                    : either(origin_, "generationConfig", "generation_config")) {}

  void write() {
    GeminiConversation conversation =
        encode_gemini_conversation(request_.messages, model_, origin_);
    for (DroppedField& field : conversation.dropped) dropped_.push_back(std::move(field));
    if (!conversation.system.empty()) object_.raw("systemInstruction", conversation.system);
    object_.raw("contents", conversation.contents);
    write_tools();
    write_tool_choice();
    write_config();
    for (const std::string_view name : kGeminiNative) {
      if (const std::string_view json = field(name); !json.empty()) object_.raw(name, json);
    }
    if (!origin_.empty()) write_others();
    object_.close();
  }

 private:
  std::string_view field(std::string_view name) const { return find_field(request_.extra, name); }

  void drop(std::string_view name, bool changes_meaning = true) {
    dropped_.push_back({std::string(name), changes_meaning});
  }

  // What the client said that callgate does not know.
  void write_others() {
    for (const ExtraField& extra : request_.extra) {
      if (!is_gemini_field(extra.name)) object_.raw_escaped(extra.name, extra.value.text);
    }
  }

  static std::string_view either(std::string_view object, std::string_view name,
                                 std::string_view other) {
    const std::string_view value = json::given_member(object, name);
    return value.empty() ? json::given_member(object, other) : value;
  }

  // By name, as the client of this format declared them.
  std::unordered_map<std::string, std::string_view> own_declarations() const {
    std::unordered_map<std::string, std::string_view> found;
    json::each_element(json::given_member(origin_, "tools"), [&](std::string_view tool) {
      json::each_element(either(tool, "functionDeclarations", "function_declarations"),
                         [&](std::string_view declared) {
                           found[json::member_text(declared, "name")] = declared;
                         });
    });
    return found;
  }

  void write_tools() {
    std::string tools;
    for (const RawJson& tool : request_.other_tools) {
      const std::string server = server_tool(tool.text);
      if (server.empty()) {
        drop("other_tools");
        continue;
      }
      if (!tools.empty()) tools.push_back(',');
      tools.append(server);
    }
    if (!request_.tools.empty()) {
      if (!tools.empty()) tools.push_back(',');
      tools.append(R"({"functionDeclarations":[)");
      const auto own = own_declarations();
      for (const ToolSpec& tool : request_.tools) {
        const auto declared = own.find(tool.name);
        if (declared == own.end()) {
          append_tool(tools, tool);
          continue;
        }
        if (tools.back() != '[') tools.push_back(',');
        tools.append(declared->second);
      }
      tools.append("]}");
    }
    if (!tools.empty()) object_.key("tools").append("[").append(tools).append("]");
  }

  static void append_tool(std::string& out, const ToolSpec& tool) {
    if (out.back() != '[') out.push_back(',');
    json::ObjectWriter object(out);
    object.string("name", tool.name);
    if (!tool.description.empty()) object.string("description", tool.description);
    if (!tool.parameters.empty()) object.raw("parametersJsonSchema", tool.parameters.text);
    object.close();
  }

  static std::string server_tool(std::string_view json) {
    const std::string type = gemini_string(json::given_member(json, "type"));
    for (const std::string_view known : kServerTools) {
      if (type != known) continue;
      const std::string_view options = json::given_member(json, type);
      return "{\"" + type + "\":" + (options.empty() ? "{}" : std::string(options)) + "}";
    }
    return {};
  }

  void write_tool_choice() {
    using Mode = ToolChoice::Mode;
    if (const std::string_view own = field("toolConfig"); !own.empty()) {
      return object_.raw("toolConfig", own);
    }
    const Mode mode = request_.tool_choice.mode;
    if (request_.tools.empty() || mode == Mode::unset) return;
    json::ObjectWriter config(object_.key("toolConfig").append(R"({"functionCallingConfig":)"));
    switch (mode) {
      case Mode::unset:
      case Mode::automatic:
        config.string("mode", "AUTO");
        break;
      case Mode::none:
        config.string("mode", "NONE");
        break;
      case Mode::required:
        config.string("mode", "ANY");
        break;
      case Mode::named:
        config.string("mode", "ANY");
        config.key("allowedFunctionNames").push_back('[');
        json::append_string(text_, request_.tool_choice.name);
        text_.push_back(']');
        break;
    }
    config.close();
    text_.push_back('}');
  }

  // A member of generationConfig, unless the caller's own has it.
  void set(std::string_view name, std::string_view json) {
    if (json.empty() || !json::given_member(own_config_, name).empty()) return;
    if (!config_.empty()) config_.push_back(',');
    json::append_string(config_, name);
    config_.append(":").append(json);
  }

  void write_config() {
    std::string_view limit = field("max_completion_tokens");
    if (limit.empty()) limit = field("max_tokens");
    set("maxOutputTokens", limit);
    for (const Renamed& each : kRenamed) set(each.name, field(each.field));
    set("stopSequences", stop_sequences());
    if (request_.choices > 1) set("candidateCount", std::to_string(request_.choices));
    if (field("logprobs") == "true") set("responseLogprobs", "true");
    set_format();
    set_thinking();
    json::Reader own(own_config_);
    if (own.peek() == json::Kind::object) {
      for (std::string_view key; own.next_member(key);) {
        if (!config_.empty()) config_.push_back(',');
        json::append_string(config_, key);
        config_.append(":").append(own.raw());
      }
    }
    if (!config_.empty()) object_.key("generationConfig").append("{" + config_ + "}");
  }

  std::string stop_sequences() {
    const std::string_view stop = field("stop");
    if (stop.empty() || stop.starts_with('[')) return stop == "[]" ? "" : std::string(stop);
    return "[" + std::string(stop) + "]";
  }

  // {"type":"json_schema","json_schema":{"name":"x","schema":{...}}}
  void set_format() {
    const std::string_view asked = field("response_format");
    if (asked.empty()) return;
    const std::string type = gemini_string(json::given_member(asked, "type"));
    if (type == "text") return;
    if (type != "json_object" && type != "json_schema") return drop("response_format");
    set("responseMimeType", "\"application/json\"");
    if (type == "json_schema") {
      set("responseJsonSchema",
          json::given_member(json::given_member(asked, "json_schema"), "schema"));
    }
  }

  void set_thinking() {
    if (const std::string_view own = field("thinkingConfig"); !own.empty()) {
      return set("thinkingConfig", own);
    }
    const std::string effort = field_text(request_.extra, "reasoning_effort");
    if (effort.empty()) return;
    std::string how;
    switch (gemini_model(model_)) {
      case GeminiModel::plain:
        break;
      case GeminiModel::budgeted:
        how = budget_of(effort);
        break;
      case GeminiModel::levelled:
        how = level_of(effort);
        break;
    }
    if (how.empty()) return drop("reasoning_effort");
    const std::string_view shown = effort == "none" ? "false" : "true";
    set("thinkingConfig", "{" + how + ",\"includeThoughts\":" + std::string(shown) + "}");
  }

  bool is_pro() const { return model_.find("pro") != std::string_view::npos; }

  // The larger models cannot do without.
  std::string budget_of(std::string_view effort) const {
    std::string_view tokens;
    if (effort == "none") tokens = is_pro() ? "128" : "0";
    if (effort == "minimal" || effort == "low") tokens = "1024";
    if (effort == "medium") tokens = "8192";
    if (effort == "high" || effort == "xhigh" || effort == "max") tokens = "24576";
    return tokens.empty() ? "" : "\"thinkingBudget\":" + std::string(tokens);
  }

  std::string level_of(std::string_view effort) const {
    std::string_view level;
    if (effort == "none" || effort == "minimal") level = is_pro() ? "low" : "minimal";
    if (effort == "low" || effort == "medium" || effort == "high") level = effort;
    if (effort == "xhigh" || effort == "max") level = "high";
    return level.empty() ? "" : "\"thinkingLevel\":\"" + std::string(level) + "\"";
  }

  const Request& request_;
  const std::string_view model_;
  std::vector<DroppedField>& dropped_;
  std::string& text_;
  json::ObjectWriter object_;
  const std::string_view origin_;  // the body of a client of this format, else empty
  const std::string_view own_config_;
  std::string config_;  // members of generationConfig
};

Result<UpstreamRequest> encode_gemini(const Request& request, const EncodeOptions& options) {
  const std::string_view model = options.model.empty() ? request.model : options.model;
  UpstreamRequest encoded{.path = "/"};
  if (model.find('/') == std::string_view::npos) encoded.path += "models/";
  append_path(encoded.path, model);
  encoded.path += options.stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
  encoded.headers.emplace_back("content-type", "application/json");
  encoded.headers.emplace_back("accept", options.stream ? "text/event-stream" : "application/json");
  add_key(encoded, options, "x-goog-api-key");
  if (!is_gemini(request)) encoded.dropped = fields_left_behind(request, gemini_fields());
  GeminiBody(request, model, encoded).write();
  return encoded;
}

std::unique_ptr<ResponseDecoder> make_gemini_decoder(const Request& request) {
  auto decoder = std::make_unique<GeminiDecoder>(request.tools);
  if (is_gemini(request)) decoder->keep_others();
  return decoder;
}

}  // namespace

// gemini-2.5-pro, models/gemini-2.0-flash
GeminiModel gemini_model(std::string_view id) {
  constexpr std::string_view kFamily = "gemini-";
  const std::size_t at = id.find(kFamily);
  if (at == std::string_view::npos) return GeminiModel::levelled;
  const std::string_view version = id.substr(at + kFamily.size());
  if (version.starts_with("2.5")) return GeminiModel::budgeted;
  const bool old = version.starts_with("1.") || version.starts_with("2.");
  return old ? GeminiModel::plain : GeminiModel::levelled;
}

const WireFormat kGemini = {
    .name = "gemini",
    .framing = WireFormat::Framing::sse_or_array,
    .encode = encode_gemini,
    .make_decoder = make_gemini_decoder,
    .structured_calls = true,
    .decode_error = decode_gemini_error,
};

}  // namespace callgate::upstream
