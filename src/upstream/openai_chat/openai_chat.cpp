#include "upstream/openai_chat/openai_chat.h"

#include <array>

#include "chat/message_json.h"
#include "json/writer.h"
#include "upstream/openai_chat/openai_chat_decoder.h"
#include "upstream/openai_chat/openai_error.h"
#include "upstream/openai_chat/openai_foreign.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kSame = "passed on as it came";

// Everything is carried; these are the fields that callgate itself looks into.
constexpr auto kFields = std::to_array<RequestField>({
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

void append_tool(std::string& out, const ToolSpec& tool) {
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

void append_tools(json::ObjectWriter& object, const Request& request) {
  if (request.tools.empty() && request.other_tools.empty()) return;
  std::string& out = object.key("tools");
  append_list(out, request.tools, [&](const ToolSpec& tool) { append_tool(out, tool); });
  if (request.other_tools.empty()) return;
  out.pop_back();
  for (const RawJson& tool : request.other_tools) {
    if (out.back() != '[') out.push_back(',');
    out.append(tool.text);
  }
  out.push_back(']');
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

Result<UpstreamRequest> encode(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded{.path = "/chat/completions"};
  encoded.headers.emplace_back("content-type", "application/json");
  encoded.headers.emplace_back("accept", options.stream ? "text/event-stream" : "application/json");
  add_key(encoded, options, "bearer");
  std::string& out = encoded.body;
  json::ObjectWriter object(out);
  object.string("model", options.model.empty() ? std::string_view(request.model) : options.model);
  object.key("messages");
  if (request.origin.empty()) {
    append_list(out, request.messages,
                [&](const Message& message) { append_message(out, message); });
  } else {
    append_foreign_messages(out, request.messages, encoded.dropped);
  }
  append_tools(object, request);
  append_tool_choice(object, request.tool_choice);
  if (request.parallel_tool_calls) {
    object.boolean("parallel_tool_calls", *request.parallel_tool_calls);
  }
  if (request.choices > 1) object.integer("n", request.choices);
  if (options.stream) append_stream(object, request);
  append_extra(object, request.extra);
  object.close();
  return encoded;
}

std::unique_ptr<ResponseDecoder> make_decoder(const Request& request) {
  return std::make_unique<OpenaiChatDecoder>(request.tools);
}

}  // namespace

std::span<const RequestField> openai_chat_fields() { return kFields; }

const WireFormat kOpenaiChat = {
    .name = "openai_chat",
    .framing = WireFormat::Framing::sse,
    .encode = encode,
    .make_decoder = make_decoder,
    .decode_error = decode_openai_error,
};

}  // namespace callgate::upstream
