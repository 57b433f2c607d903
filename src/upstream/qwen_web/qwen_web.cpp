#include "upstream/qwen_web/qwen_web.h"

#include <array>

#include "json/reader.h"
#include "json/writer.h"
#include "upstream/qwen_web/qwen_web_decoder.h"
#include "upstream/qwen_web/qwen_web_error.h"
#include "upstream/request_parts.h"
#include "upstream/transcript.h"

namespace callgate::upstream {
namespace {

constexpr std::array<RequestField, 13> kQwenWebFields = {{
    {"model", true, "`models` and `model`"},
    {"messages", true, "the new ones as one text; in a new chat all of them"},
    {"image parts", false, "dropped, named as `messages[i].content[j]`"},
    {"stream", true, "the upstream always streams; a whole answer is folded from it"},
    {"reasoning_effort", true, "`thinking_enabled`: off for `none` and `minimal`, on for the rest"},
    {"tools", false, "dropped; use `tools = \"prompt\"`"},
    {"tool_choice", false, "dropped"},
    {"parallel_tool_calls", false, "dropped; callgate itself lets only the first call pass"},
    {"response_format", false, "dropped"},
    {"temperature", false, "dropped, as all sampling"},
    {"max_tokens", false, "dropped"},
    {"stop", false, "dropped"},
    {"n", false, "dropped: one choice"},
}};

// A chat of somebody who is logged in, or of a guest.
std::string_view chat_mode(const EncodeOptions& options) {
  return options.key.empty() ? "guest" : "normal";
}

void add_browser_headers(UpstreamRequest& request, const EncodeOptions& options) {
  request.headers.emplace_back("content-type", "application/json");
  if (!options.key.empty()) {
    request.headers.emplace_back("authorization", "Bearer " + std::string(options.key));
  }
}

void append_id(json::ObjectWriter& object, std::string_view name, std::string_view id) {
  if (id.empty()) {
    object.null(name);
  } else {
    object.string(name, id);
  }
}

void append_models(json::ObjectWriter& object, std::string_view model) {
  std::string& out = object.key("models");
  out.push_back('[');
  json::append_string(out, model);
  out.push_back(']');
}

bool wants_thinking(const Request& request) {
  const std::string effort = field_text(request.extra, "reasoning_effort");
  return !effort.empty() && effort != "none" && effort != "minimal";
}

void append_features(json::ObjectWriter& message, const Request& request) {
  json::ObjectWriter features(message.key("feature_config"));
  features.boolean("thinking_enabled", wants_thinking(request));
  features.string("output_schema", "phase");
  features.boolean("auto_thinking", false);
  features.string("thinking_format", "summary");
  features.close();
}

void append_message(std::string& out, const Request& request, const EncodeOptions& options,
                    const QwenWebPlace& place, std::string_view content) {
  json::ObjectWriter message(out);
  message.string("fid", place.message_id);
  append_id(message, "parentId", place.parent_id);
  append_id(message, "parent_id", place.parent_id);
  message.raw("childrenIds", "[]");
  message.string("role", "user");
  message.string("content", content);
  message.string("user_action", "chat");
  message.raw("files", "[]");
  message.integer("timestamp", place.timestamp);
  append_models(message, options.model);
  message.string("chat_type", "t2t");
  message.string("sub_chat_type", "t2t");
  append_features(message, request);
  message.raw("extra", R"({"meta":{"subChatType":"t2t"}})");
  message.close();
}

// Ids are the upstream's own and go into a URL.
void append_query(std::string& path, std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : value) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      path.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      path.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
}

std::vector<DroppedField> left_behind(const Request& request) {
  std::vector<DroppedField> dropped = fields_left_behind(request, kQwenWebFields);
  if (!request.tools.empty()) dropped.push_back({"tools", true});
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const std::vector<ContentPart> parts = parts_of(request.messages[i].content);
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (parts[j].kind == ContentPart::Kind::text) continue;
      dropped.push_back(
          {"messages[" + std::to_string(i) + "].content[" + std::to_string(j) + "]", true});
    }
  }
  return dropped;
}

using StringFields = std::optional<std::array<std::string, 2>>;

// Two strings of the object `inner` in a JSON object; empty where they are not there. Nothing: no JSON object.
StringFields read_strings(std::string_view json, std::string_view inner,
                          const std::array<std::string_view, 2>& names) {
  std::array<std::string, 2> values;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return std::nullopt;
  for (std::string_view key; in.next_member(key);) {
    if (key != inner || in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view name; in.next_member(name);) {
      const std::size_t at = name == names[0] ? 0 : name == names[1] ? 1 : 2;
      if (at < 2 && in.peek() == json::Kind::string) {
        values[at] = in.string();
      } else {
        in.skip();
      }
    }
  }
  if (!in.finish()) return std::nullopt;
  return values;
}

Result<UpstreamRequest> encode_qwen_web(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded =
      encode_qwen_web_post(request, options, {}, to_transcript(request.messages));
  encoded.dropped = left_behind(request);
  return encoded;
}

std::unique_ptr<ResponseDecoder> make_qwen_web_decoder(const Request&) {
  return std::make_unique<QwenWebDecoder>();
}

}  // namespace

std::span<const RequestField> qwen_web_fields() { return kQwenWebFields; }

UpstreamRequest encode_qwen_web_chat(const EncodeOptions& options, std::int64_t unix_ms) {
  UpstreamRequest encoded{.path = "/chats/new", .headers = {}, .body = {}, .dropped = {}};
  add_browser_headers(encoded, options);
  json::ObjectWriter object(encoded.body);
  object.string("title", "New Chat");
  append_models(object, options.model);
  object.string("chat_mode", chat_mode(options));
  object.string("chat_type", "t2t");
  object.integer("timestamp", unix_ms);
  object.close();
  return encoded;
}

Result<std::string> decode_qwen_web_chat(int status, std::string_view body) {
  if (status >= 200 && status < 300) {
    const StringFields fields = read_strings(body, "data", {"id", ""});
    if (fields && !(*fields)[0].empty()) return (*fields)[0];
  }
  return tl::unexpected(decode_qwen_web_error(status, body));
}

UpstreamRequest encode_qwen_web_post(const Request& request, const EncodeOptions& options,
                                     const QwenWebPlace& place, std::string_view content) {
  UpstreamRequest encoded{
      .path = "/chat/completions?chat_id=", .headers = {}, .body = {}, .dropped = {}};
  append_query(encoded.path, place.chat_id);
  add_browser_headers(encoded, options);
  json::ObjectWriter object(encoded.body);
  object.boolean("stream", true);
  object.string("version", "2.1");
  object.boolean("incremental_output", true);
  object.string("chat_id", place.chat_id);
  object.string("chat_mode", chat_mode(options));
  object.string("model", options.model);
  append_id(object, "parent_id", place.parent_id);
  std::string& out = object.key("messages");
  out.push_back('[');
  append_message(out, request, options, place, content);
  out.push_back(']');
  object.integer("timestamp", place.timestamp);
  object.close();
  return encoded;
}

std::optional<QwenWebCreated> decode_qwen_web_created(std::string_view frame) {
  constexpr std::string_view kName = "response.created";
  if (frame.find(kName) == std::string_view::npos) return std::nullopt;
  StringFields fields = read_strings(frame, kName, {"parent_id", "response_id"});
  if (!fields || (*fields)[1].empty()) return std::nullopt;
  return QwenWebCreated{.parent_id = std::move((*fields)[0]),
                        .response_id = std::move((*fields)[1])};
}

const WireFormat kQwenWeb = {
    .name = "qwen_web",
    .framing = WireFormat::Framing::sse,
    .encode = encode_qwen_web,
    .make_decoder = make_qwen_web_decoder,
    .decode_error = decode_qwen_web_error,
};

}  // namespace callgate::upstream
