#include "upstream/anthropic_messages/anthropic_messages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/glob.h"
#include "chat/messages_frame.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_block.h"
#include "upstream/anthropic_messages/anthropic_conversation.h"
#include "upstream/anthropic_messages/anthropic_decoder.h"
#include "upstream/anthropic_messages/anthropic_error.h"
#include "upstream/anthropic_messages/anthropic_same.h"
#include "upstream/anthropic_messages/anthropic_tool.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

// Fields of the API itself.
constexpr std::array<std::string_view, 8> kMessagesNative = {
    "cache_control", "container", "context_management", "inference_geo",
    "mcp_servers",   "speed",     "thinking",           "output_config"};

std::optional<double> number_of(std::string_view json) {
  double value = 0;
  const auto [end, fault] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (fault != std::errc() || end != json.data() + json.size()) return std::nullopt;
  return value;
}

class MessagesBody {
 public:
  MessagesBody(const Request& request, const EncodeOptions& options, UpstreamRequest& encoded)
      : request_(request), options_(options), dropped_(encoded.dropped), object_(encoded.body) {}

  void write() {
    object_.string("model",
                   options_.model.empty() ? std::string_view(request_.model) : options_.model);
    write_max_tokens();
    AnthropicConversation conversation = encode_anthropic_conversation(request_.messages);
    for (DroppedField& field : conversation.dropped) dropped_.push_back(std::move(field));
    if (!conversation.system.empty()) object_.raw("system", conversation.system);
    object_.raw("messages", conversation.messages);
    write_tools();
    write_tool_choice();
    write_reasoning();
    write_sampling();
    write_stop();
    write_metadata();
    write_service_tier();
    for (const std::string_view name : kMessagesNative) {
      if (const std::string_view json = field(name); !json.empty()) object_.raw(name, json);
    }
    write_unknown();
    if (options_.stream) object_.boolean("stream", true);
    object_.close();
  }

  void write_count() {
    object_.string("model",
                   options_.model.empty() ? std::string_view(request_.model) : options_.model);
    const AnthropicConversation conversation = encode_anthropic_conversation(request_.messages);
    if (!conversation.system.empty()) object_.raw("system", conversation.system);
    object_.raw("messages", conversation.messages);
    write_tools();
    write_tool_choice();
    object_.close();
  }

 private:
  std::string_view field(std::string_view name) const {
    const std::string_view given = find_field(request_.extra, name);
    return given.empty() ? native(name) : given;
  }

  // Of a request that came as Messages and was changed since.
  std::string_view native(std::string_view name) const {
    if (request_.origin != kMessagesOrigin) return {};
    for (const NativeField& each : request_.native) {
      if (each.name == name) return each.value.text;
    }
    return {};
  }

  void write_unknown() {
    if (request_.origin != kMessagesOrigin) return;
    for (const NativeField& each : request_.native) {
      const bool known = std::find(kMessagesNative.begin(), kMessagesNative.end(), each.name) !=
                             kMessagesNative.end() ||
                         each.name.find('.') != std::string::npos ||
                         each.name.starts_with("anthropic-") || each.name == "service_tier";
      if (!known && !each.value.empty()) object_.raw_escaped(each.name, each.value.text);
    }
  }

  void drop(std::string_view name, bool changes_meaning = true) {
    dropped_.push_back({std::string(name), changes_meaning});
  }

  void write_max_tokens() {
    std::string_view limit = field("max_completion_tokens");
    if (limit.empty()) limit = field("max_tokens");
    if (limit.empty()) return object_.integer("max_tokens", kAnthropicMaxTokens);
    object_.raw("max_tokens", limit);
  }

  void write_tools() {
    std::string tools;
    for (const ToolSpec& tool : request_.tools) {
      if (!tools.empty()) tools.push_back(',');
      append_anthropic_tool(tools, tool);
    }
    for (const RawJson& tool : request_.other_tools) {
      if (json::given_member(tool.text, "name").empty()) {
        drop("other_tools");
        continue;
      }
      if (!tools.empty()) tools.push_back(',');
      tools.append(tool.text);
    }
    for (const NativeField& each : request_.native) {
      if (request_.origin != kMessagesOrigin || !each.name.starts_with("tools.")) continue;
      if (!tools.empty()) tools.push_back(',');
      tools.append(each.value.text);
    }
    if (tools.empty()) return;
    object_.key("tools").append("[").append(tools).append("]");
    has_tools_ = true;
  }

  void write_tool_choice() { append_anthropic_choice(object_, request_, has_tools_); }

  // `thinking` and `output_config`, unless the caller gave them.
  void write_reasoning() {
    const std::string effort = effort_of();
    const std::string format = format_of();
    const bool own_config = !field("output_config").empty();
    if (own_config) {
      if (!effort.empty()) drop("reasoning_effort");
      if (!format.empty()) drop("response_format");
    } else if ((!effort.empty() && effort != "none") || !format.empty()) {
      json::ObjectWriter config(object_.key("output_config"));
      if (!effort.empty() && effort != "none") config.string("effort", effort);
      if (!format.empty()) config.raw("format", format);
      config.close();
    }
    thinks_ =
        !field("thinking").empty() &&
        json::given_member(field("thinking"), "type").find("disabled") == std::string_view::npos;
    if (effort.empty() || own_config || !field("thinking").empty()) return;
    // The API refuses to think where a call is forced.
    using Mode = ToolChoice::Mode;
    const Mode mode = request_.tool_choice.mode;
    const bool forced = has_tools_ && (mode == Mode::required || mode == Mode::named);
    thinks_ = effort != "none" && !forced;
    if (!thinks_ && effort != "none") return;
    object_.raw("thinking", thinks_ ? R"({"type":"adaptive"})" : R"({"type":"disabled"})");
  }

  // low, medium, high, xhigh, max, none, or empty where it was not given.
  std::string effort_of() {
    std::string effort = field_text(request_.extra, "reasoning_effort");
    if (effort == "minimal") effort = "low";
    for (const std::string_view known : {"", "none", "low", "medium", "high", "xhigh", "max"}) {
      if (effort == known) return effort;
    }
    drop("reasoning_effort");
    return {};
  }

  // {"type":"json_schema","json_schema":{"name":"x","schema":{...}}}
  std::string format_of() {
    const std::string_view asked = field("response_format");
    if (asked.empty()) return {};
    const std::string_view type = json::given_member(asked, "type");
    const std::string schema(
        json::given_member(json::given_member(asked, "json_schema"), "schema"));
    if (type == "\"json_schema\"" && !schema.empty()) {
      return R"({"type":"json_schema","schema":)" + schema + "}";
    }
    if (type != "\"text\"") drop("response_format");
    return {};
  }

  void write_sampling() {
    const std::string_view temperature = field("temperature");
    const std::string_view top_p = field("top_p");
    const std::string_view top_k = field("top_k");
    const std::optional<double> heat = number_of(temperature);
    const bool high = heat && *heat > 1;
    const bool plain_p = number_of(top_p) == 1.0;
    if (high || (heat && *heat != 1 && thinks_)) drop("temperature");
    if (!temperature.empty() && !thinks_) object_.raw("temperature", high ? "1" : temperature);
    if (!top_p.empty() && !plain_p) thinks_ ? drop("top_p") : object_.raw("top_p", top_p);
    if (!top_k.empty()) thinks_ ? drop("top_k") : object_.raw("top_k", top_k);
  }

  void write_stop() {
    const std::string_view stop = field("stop");
    if (stop.empty()) return;
    std::string sequences;
    bool lost = false;
    const auto add = [&](std::string_view text) {
      if (is_ascii_blank(text)) {
        lost = true;
        return;
      }
      if (!sequences.empty()) sequences.push_back(',');
      json::append_string(sequences, text);
    };
    json::Reader in(stop);
    if (in.peek() == json::Kind::string) {
      add(in.string());
    } else if (in.peek() == json::Kind::array) {
      while (in.next_element()) {
        if (in.peek() == json::Kind::string) {
          add(in.string());
        } else {
          in.skip();
        }
      }
    }
    if (lost) drop("stop");
    if (!sequences.empty()) object_.key("stop_sequences").append("[" + sequences + "]");
  }

  void write_metadata() {
    const std::string_view metadata = field("metadata");
    std::string user = field_text(request_.extra, "user");
    if (user.empty()) user = field_text(request_.extra, "safety_identifier");
    const std::string_view given = json::given_member(metadata, "user_id");
    if (!metadata.empty() && metadata != "{}" && given.empty()) drop("metadata", false);
    if (user.empty() && given.empty()) return;
    json::ObjectWriter object(object_.key("metadata"));
    if (!given.empty()) {
      object.raw("user_id", given);
    } else {
      object.string("user_id", user);
    }
    object.close();
  }

  void write_service_tier() {
    const std::string tier = field_text(request_.extra, "service_tier");
    if (tier.empty()) return;
    if (tier == "auto" || tier == "priority") return object_.string("service_tier", "auto");
    if (tier == "default" || tier == "standard_only") {
      return object_.string("service_tier", "standard_only");
    }
    drop("service_tier", false);
  }

  const Request& request_;
  const EncodeOptions& options_;
  std::vector<DroppedField>& dropped_;
  json::ObjectWriter object_;
  bool has_tools_ = false;
  bool thinks_ = false;
};

// A header of a client that speaks the same; empty when there is none.
std::string header_of(const Request& request, std::string_view name) {
  if (request.origin != kMessagesOrigin) return {};
  for (const NativeField& field : request.native) {
    if (field.name == name) return std::string(json::Reader(field.value.text).string());
  }
  return {};
}

// Those that the upstream's configuration allows; the others are named.
void add_betas(UpstreamRequest& encoded, const Request& request, const EncodeOptions& options) {
  const std::string asked = header_of(request, "anthropic-beta");
  std::string allowed;
  std::string refused;
  constexpr std::string_view kBetween = ", \t";
  for (std::size_t at = asked.find_first_not_of(kBetween); at != std::string::npos;) {
    const std::size_t stop = std::min(asked.find_first_of(kBetween, at), asked.size());
    const std::string_view beta = std::string_view(asked).substr(at, stop - at);
    const bool good =
        std::any_of(options.betas.begin(), options.betas.end(),
                    [&](const std::string& pattern) { return glob_matches(pattern, beta); });
    std::string& list = good ? allowed : refused;
    list.append(list.empty() ? "" : good ? "," : " ").append(beta);
    at = asked.find_first_not_of(kBetween, stop);
  }
  if (!allowed.empty()) encoded.headers.emplace_back("anthropic-beta", std::move(allowed));
  if (!refused.empty()) encoded.dropped.push_back({"anthropic-beta " + refused, false});
}

void add_messages_headers(UpstreamRequest& encoded, const Request& request,
                          const EncodeOptions& options, std::string_view accept) {
  const std::string version = header_of(request, "anthropic-version");
  encoded.headers.emplace_back("content-type", "application/json");
  encoded.headers.emplace_back("accept", accept);
  encoded.headers.emplace_back("anthropic-version", version.empty() ? "2023-06-01" : version);
  add_key(encoded, options, "x-api-key");
  add_betas(encoded, request, options);
}

Result<UpstreamRequest> encode_messages(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded{.path = "/messages"};
  add_messages_headers(encoded, request, options,
                       options.stream ? "text/event-stream" : "application/json");
  if (goes_as_it_came(request)) {
    append_same_body(encoded.body, request, options, encoded.dropped);
    return encoded;
  }
  for (DroppedField& field : fields_left_behind(request, anthropic_fields())) {
    encoded.dropped.push_back(std::move(field));
  }
  MessagesBody(request, options, encoded).write();
  return encoded;
}

// A count takes no limit of tokens, and nothing that says how to answer.
Result<UpstreamRequest> encode_count(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded{.path = "/messages/count_tokens"};
  add_messages_headers(encoded, request, options, "application/json");
  if (goes_as_it_came(request)) {
    append_same_count(encoded.body, request, options, encoded.dropped);
  } else {
    MessagesBody(request, options, encoded).write_count();
  }
  return encoded;
}

std::optional<std::int64_t> decode_count(std::string_view body) {
  json::Reader in(json::given_member(body, "input_tokens"));
  if (in.peek() != json::Kind::number) return std::nullopt;
  const std::optional<std::int64_t> count = in.integer();
  return count && *count >= 0 ? count : std::nullopt;
}

std::unique_ptr<ResponseDecoder> make_messages_decoder(const Request& request) {
  return std::make_unique<AnthropicDecoder>(request.tools, request.origin == kMessagesOrigin);
}

}  // namespace

void append_anthropic_choice(json::ObjectWriter& object, const Request& request, bool has_tools) {
  using Mode = ToolChoice::Mode;
  const bool one_call = !request.parallel_tool_calls.value_or(true);
  const Mode mode = request.tool_choice.mode;
  if (!has_tools || (mode == Mode::unset && !one_call)) return;
  json::ObjectWriter choice(object.key("tool_choice"));
  switch (mode) {
    case Mode::unset:
    case Mode::automatic:
      choice.string("type", "auto");
      break;
    case Mode::none:
      choice.string("type", "none");
      break;
    case Mode::required:
      choice.string("type", "any");
      break;
    case Mode::named:
      choice.string("type", "tool");
      choice.string("name", request.tool_choice.name);
      break;
  }
  if (one_call && mode != Mode::none) choice.boolean("disable_parallel_tool_use", true);
  choice.close();
}

const WireFormat kAnthropicMessages = {
    .name = "anthropic_messages",
    .framing = WireFormat::Framing::sse,
    .encode = encode_messages,
    .make_decoder = make_messages_decoder,
    .structured_calls = true,
    .decode_error = decode_anthropic_error,
    .encode_count = encode_count,
    .decode_count = decode_count,
};

}  // namespace callgate::upstream
