#include "upstream/ollama/ollama.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "json/each.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/field_table.h"
#include "upstream/ollama/ollama_decoder.h"
#include "upstream/ollama/ollama_messages.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kOption = "in `options` under the same name";

constexpr auto kOllamaFields = field_table(
    {
        {"model", true, kSame},
        {"messages", true, "`messages`, see above"},
        {"stream", true, kSame},
        {"tools", true, "passed on; left out where `tool_choice` is none; `strict` is left out"},
        {"tool_choice", true,
         "`none` sends no tools; required and named are left out and reported"},
        {"parallel_tool_calls", false, "left out; callgate itself lets only the first call pass"},
        {"other_tools", false, "tools that are not functions: left out"},
        {"max_tokens", true, "`options.num_predict`"},
        {"max_completion_tokens", true, "`options.num_predict`, before `max_tokens`"},
        {"temperature", true, kOption},
        {"top_p", true, kOption},
        {"top_k", true, kOption},
        {"min_p", true, kOption},
        {"typical_p", true, kOption},
        {"seed", true, kOption},
        {"stop", true, "`options.stop`, always a list"},
        {"presence_penalty", true, kOption},
        {"frequency_penalty", true, kOption},
        {"repeat_penalty", true, kOption},
        {"repetition_penalty", true, "`options.repeat_penalty`"},
        {"options", true,
         "passed on, before what the fields above would give; for `num_ctx` and others"},
        {"reasoning_effort", true,
         "`think`: false for `none`, `low` for `minimal`, `high` for `xhigh` and `max`"},
        {"think", true, "passed on, instead of what the effort would give"},
        {"response_format", true, "`format`: `json`, or the JSON schema"},
        {"format", true, "passed on, instead of what `response_format` would give"},
        {"keep_alive", true, kSame},
        {"truncate", true, kSame},
        {"shift", true, kSame},
        {"logprobs", true, kSame},
        {"top_logprobs", true, kSame},
        {"stream_options", true, "not needed: usage always comes"},
        {"n", false, "one answer comes"},
    },
    {"logit_bias", "prediction", "modalities", "audio", "verbosity", "web_search_options", "user",
     "safety_identifier", "metadata", "service_tier", "store", "prompt_cache_key",
     "prompt_cache_retention"});

struct Option {
  std::string_view field;
  std::string_view name;
};
// Of two fields with one name the first counts.
constexpr auto kOptions = std::to_array<Option>({
    {"max_completion_tokens", "num_predict"},
    {"max_tokens", "num_predict"},
    {"temperature", "temperature"},
    {"top_p", "top_p"},
    {"top_k", "top_k"},
    {"min_p", "min_p"},
    {"typical_p", "typical_p"},
    {"seed", "seed"},
    {"stop", "stop"},
    {"presence_penalty", "presence_penalty"},
    {"frequency_penalty", "frequency_penalty"},
    {"repeat_penalty", "repeat_penalty"},
    {"repetition_penalty", "repeat_penalty"},
});

// The client speaks this format as well.
bool is_ollama(const Request& request) { return request.origin == "ollama"; }

bool is_ollama_field(std::string_view name) {
  return std::any_of(kOllamaFields.begin(), kOllamaFields.end(),
                     [&](const RequestField& field) { return field.name == name; });
}

class OllamaBody {
 public:
  OllamaBody(const Request& request, const EncodeOptions& options, UpstreamRequest& encoded)
      : request_(request),
        options_(options),
        dropped_(encoded.dropped),
        object_(encoded.body),
        origin_(is_ollama(request) ? std::string_view(request.body.text) : std::string_view()) {}

  void write() {
    object_.string("model",
                   options_.model.empty() ? std::string_view(request_.model) : options_.model);
    append_ollama_messages(object_.key("messages"), request_.messages, dropped_,
                           json::given_member(origin_, "messages"));
    write_tools();
    // Without it the server streams.
    object_.boolean("stream", options_.stream);
    write_think();
    write_format();
    write_options();
    for (const std::string_view name :
         {"keep_alive", "truncate", "shift", "logprobs", "top_logprobs"}) {
      if (const std::string_view json = field(name); !json.empty()) object_.raw(name, json);
    }
    if (!origin_.empty()) write_others();
    object_.close();
  }

 private:
  std::string_view field(std::string_view name) const { return find_field(request_.extra, name); }

  void drop(std::string_view name) { dropped_.push_back({std::string(name), true}); }

  // What the client said that callgate does not know. What only /api/generate has is not for /api/chat.
  void write_others() {
    if (!request_.form.empty()) return;
    for (const ExtraField& extra : request_.extra) {
      if (!is_ollama_field(extra.name)) object_.raw_escaped(extra.name, extra.value.text);
    }
  }

  void write_tools() {
    using Mode = ToolChoice::Mode;
    const Mode mode = request_.tool_choice.mode;
    if (mode == Mode::required || mode == Mode::named) drop("tool_choice");
    if (request_.tools.empty() || mode == Mode::none) return;
    std::string& out = object_.key("tools");
    out.push_back('[');
    const auto own = own_tools();
    for (const ToolSpec& tool : request_.tools) {
      if (out.back() != '[') out.push_back(',');
      if (const auto declared = own.find(tool.name); declared != own.end()) {
        out.append(declared->second);
        continue;
      }
      json::ObjectWriter item(out);
      item.string("type", "function");
      json::ObjectWriter function(item.key("function"));
      function.string("name", tool.name);
      if (!tool.description.empty()) function.string("description", tool.description);
      append_object_schema(function.key("parameters"), tool.parameters.text);
      function.close();
      item.close();
    }
    out.push_back(']');
  }

  // By name, as the client of this format declared them.
  std::unordered_map<std::string, std::string_view> own_tools() const {
    std::unordered_map<std::string, std::string_view> found;
    json::each_element(json::given_member(origin_, "tools"), [&](std::string_view tool) {
      found[json::member_text(json::given_member(tool, "function"), "name")] = tool;
    });
    return found;
  }

  void write_think() {
    struct Row {
      std::string_view effort;
      std::string_view think;
    };
    static constexpr auto kThink = std::to_array<Row>({{"none", "false"},
                                                       {"minimal", "\"low\""},
                                                       {"low", "\"low\""},
                                                       {"medium", "\"medium\""},
                                                       {"high", "\"high\""},
                                                       {"xhigh", "\"high\""},
                                                       {"max", "\"high\""}});
    if (!field("think").empty()) return object_.raw("think", field("think"));
    const std::string_view own = json::given_member(origin_, "think");
    if (!own.empty()) return object_.raw("think", own);
    const std::string effort = field_text(request_.extra, "reasoning_effort");
    if (effort.empty()) return;
    for (const Row& row : kThink) {
      if (row.effort == effort) return object_.raw("think", row.think);
    }
    drop("reasoning_effort");
  }

  // {"type":"json_schema","json_schema":{"name":"x","schema":{...}}}
  void write_format() {
    if (!field("format").empty()) return object_.raw("format", field("format"));
    const std::string_view own = json::given_member(origin_, "format");
    if (!own.empty()) return object_.raw("format", own);
    const std::string_view asked = field("response_format");
    if (asked.empty()) return;
    const std::string_view type = json::given_member(asked, "type");
    const std::string_view schema =
        json::given_member(json::given_member(asked, "json_schema"), "schema");
    if (type == "\"json_object\"") return object_.string("format", "json");
    if (type == "\"json_schema\"" && !schema.empty()) return object_.raw("format", schema);
    if (type != "\"text\"") drop("response_format");
  }

  void write_options() {
    std::string text;
    json::ObjectWriter options(text);
    std::vector<std::string> given;
    json::Reader own(field("options"));
    if (own.peek() == json::Kind::object) {
      for (std::string_view key; own.next_member(key);) {
        given.emplace_back(key);
        options.raw_escaped(given.back(), own.raw());
      }
    } else if (!field("options").empty()) {
      drop("options");
    }
    for (const Option& option : kOptions) {
      const std::string_view json = field(option.field);
      if (json.empty() || std::find(given.begin(), given.end(), option.name) != given.end()) {
        continue;
      }
      given.emplace_back(option.name);
      const bool bare = option.name == "stop" && json.starts_with('"');
      options.raw(option.name, bare ? "[" + std::string(json) + "]" : std::string(json));
    }
    options.close();
    if (!given.empty()) object_.raw("options", text);
  }

  const Request& request_;
  const EncodeOptions& options_;
  std::vector<DroppedField>& dropped_;
  json::ObjectWriter object_;
  const std::string_view origin_;  // the body of a client of this format, else empty
};

Result<UpstreamRequest> encode_ollama(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded{.path = "/api/chat"};
  encoded.headers.emplace_back("content-type", "application/json");
  encoded.headers.emplace_back("accept",
                               options.stream ? "application/x-ndjson" : "application/json");
  add_key(encoded, options, "bearer");
  if (!is_ollama(request) || !request.form.empty()) {
    encoded.dropped = fields_left_behind(request, kOllamaFields);
  }
  OllamaBody(request, options, encoded).write();
  return encoded;
}

std::unique_ptr<ResponseDecoder> make_ollama_decoder(const Request& request) {
  auto decoder = std::make_unique<OllamaDecoder>(request.tools);
  if (is_ollama(request)) decoder->keep_others();
  return decoder;
}

}  // namespace

std::span<const RequestField> ollama_fields() { return kOllamaFields; }

const WireFormat kOllama = {
    .name = "ollama",
    .framing = WireFormat::Framing::lines,
    .encode = encode_ollama,
    .make_decoder = make_ollama_decoder,
    .decode_error = decode_openai_error,  // {"error":"..."}
};

}  // namespace callgate::upstream
