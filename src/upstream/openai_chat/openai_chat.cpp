#include "upstream/openai_chat/openai_chat.h"

#include <algorithm>
#include <array>

#include "chat/message_json.h"
#include "json/member.h"
#include "json/writer.h"
#include "upstream/openai_chat/openai_chat_decoder.h"
#include "upstream/openai_chat/openai_error.h"
#include "upstream/openai_chat/openai_foreign.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kSame = "passed on as it came";

// Everything is carried; these are the fields that callgate itself looks into.
constexpr auto kChatFields = std::to_array<RequestField>({
    {"model", true, "the `id` of the model, or the name that was asked for"},
    {"messages", true, "passed on as they came, parts and unknown members included"},
    {"stream", true, kSame},
    {"stream_options", true, "a stream is always asked for usage; other members are passed on"},
    {"tools", true, "passed on as they came, `strict` and unknown members included"},
    {"other_tools", true, "tools that are not functions: passed on as they came"},
    {"functions", true, "`tools`; the answer comes as `function_call`"},
    {"tool_choice", true, kSame},
    {"function_call", true, "`tool_choice`"},
    {"parallel_tool_calls", true, "passed on; false is also kept by callgate itself"},
    {"n", true, kSame},
    {"temperature", true, kSame},
    {"max_tokens", true, kSame},
    {"max_completion_tokens", true, kSame},
    {"stop", true, kSame},
    {"response_format", true, kSame},
    {"reasoning_effort", true, kSame},
    {"logprobs", true, kSame},
    {"any other field", true, kSame},
});

// Fields that servers of this format know. A client of another protocol may have sent others, which servers refuse.
bool is_chat_field(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>({
      "audio",
      "chat_template_kwargs",
      "frequency_penalty",
      "logit_bias",
      "logprobs",
      "max_completion_tokens",
      "max_tokens",
      "metadata",
      "min_p",
      "modalities",
      "prediction",
      "presence_penalty",
      "prompt_cache_key",
      "prompt_cache_retention",
      "reasoning",
      "reasoning_effort",
      "repeat_penalty",
      "repetition_penalty",
      "response_format",
      "safety_identifier",
      "seed",
      "service_tier",
      "stop",
      "store",
      "temperature",
      "tool_choice",
      "top_k",
      "top_logprobs",
      "top_p",
      "typical_p",
      "user",
      "verbosity",
      "web_search_options",
  });
  return std::binary_search(kNames.begin(), kNames.end(), name);
}

// A client of this protocol may know fields that callgate does not.
void append_fields(json::ObjectWriter& object, const Request& request,
                   std::vector<DroppedField>& dropped) {
  if (request.origin.empty()) return append_extra(object, request.extra);
  for (const ExtraField& field : request.extra) {
    if (is_chat_field(field.name)) {
      object.raw(field.name, field.value.text);
    } else {
      dropped.push_back({field.name, true});
    }
  }
}

void append_chat_tool(std::string& out, const ToolSpec& tool) {
  json::ObjectWriter object(out);
  object.string("type", "function");
  json::ObjectWriter function(object.key("function"));
  function.string("name", tool.name);
  if (!tool.description.empty()) function.string("description", tool.description);
  if (!tool.parameters.empty()) function.raw("parameters", tool.parameters.text);
  append_extra(function, tool.extra);
  function.close();
  append_extra(object, tool.outer_extra);
  object.close();
}

// Of tools that are not functions, another protocol has only one that this format has as well.
bool is_chat_tool(const Request& request, const RawJson& tool) {
  return request.origin.empty() || json::member_text(tool.text, "type") == "custom";
}

void append_chat_tools(json::ObjectWriter& object, const Request& request,
                       std::vector<DroppedField>& dropped) {
  std::string tools;
  for (const ToolSpec& tool : request.tools) {
    if (!tools.empty()) tools.push_back(',');
    append_chat_tool(tools, tool);
  }
  bool lost = false;
  for (const RawJson& tool : request.other_tools) {
    if (!is_chat_tool(request, tool)) {
      lost = true;
      continue;
    }
    if (!tools.empty()) tools.push_back(',');
    tools.append(tool.text);
  }
  if (lost) dropped.push_back({"other_tools", true});
  if (!tools.empty()) object.raw("tools", "[" + tools + "]");
}

void append_tool_choice(json::ObjectWriter& object, const ToolChoice& choice) {
  switch (choice.mode) {
    case ToolChoice::Mode::unset:
      return;
    case ToolChoice::Mode::automatic:
      return object.string("tool_choice", "auto");
    case ToolChoice::Mode::none:
      return object.string("tool_choice", "none");
    case ToolChoice::Mode::required:
      return object.string("tool_choice", "required");
    case ToolChoice::Mode::named:
      break;
  }
  json::ObjectWriter named(object.key("tool_choice"));
  named.string("type", "function");
  json::ObjectWriter function(named.key("function"));
  function.string("name", choice.name);
  function.close();
  named.close();
}

// Usage is always asked for: callgate counts it, and reports it only to callers that asked for it.
void append_stream(json::ObjectWriter& object, const Request& request) {
  object.boolean("stream", true);
  std::string& out = object.key("stream_options");
  json::ObjectWriter options(out);
  options.boolean("include_usage", true);
  append_extra(options, request.stream_options);
  options.close();
}

constexpr std::size_t kUsualBody = 500;  // a short question

Result<UpstreamRequest> encode_chat(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded{.path = "/chat/completions"};
  encoded.headers.reserve(4);
  encoded.headers.emplace_back("content-type", "application/json");
  encoded.headers.emplace_back("accept", options.stream ? "text/event-stream" : "application/json");
  add_key(encoded, options, "bearer");
  std::string& out = encoded.body;
  out.reserve(kUsualBody);
  json::ObjectWriter object(out);
  object.string("model", options.model.empty() ? std::string_view(request.model) : options.model);
  object.key("messages");
  if (request.origin.empty()) {
    append_list(out, request.messages,
                [&](const Message& message) { append_message(out, message); });
  } else {
    append_foreign_messages(out, request.messages, encoded.dropped);
  }
  append_chat_tools(object, request, encoded.dropped);
  append_tool_choice(object, request.tool_choice);
  if (request.parallel_tool_calls) {
    object.boolean("parallel_tool_calls", *request.parallel_tool_calls);
  }
  if (request.choices > 1) object.integer("n", request.choices);
  if (options.stream) append_stream(object, request);
  append_fields(object, request, encoded.dropped);
  object.close();
  return encoded;
}

std::unique_ptr<ResponseDecoder> make_chat_decoder(const Request& request) {
  return std::make_unique<OpenaiChatDecoder>(request.tools);
}

}  // namespace

std::span<const RequestField> openai_chat_fields() { return kChatFields; }

const WireFormat kOpenaiChat = {
    .name = "openai_chat",
    .framing = WireFormat::Framing::sse,
    .encode = encode_chat,
    .make_decoder = make_chat_decoder,
    .decode_error = decode_openai_error,
};

}  // namespace callgate::upstream
