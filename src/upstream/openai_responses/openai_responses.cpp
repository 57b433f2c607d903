#include "upstream/openai_responses/openai_responses.h"

#include <array>
#include <utility>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/openai_responses/responses_decoder.h"
#include "upstream/openai_responses/responses_error.h"
#include "upstream/openai_responses/responses_input.h"
#include "upstream/openai_responses/responses_same.h"
#include "upstream/openai_responses/responses_tools.h"

namespace callgate::upstream {
namespace {

constexpr std::array<std::string_view, 18> kSameName = {"temperature",
                                                        "top_p",
                                                        "top_logprobs",
                                                        "user",
                                                        "safety_identifier",
                                                        "metadata",
                                                        "service_tier",
                                                        "prompt_cache_key",
                                                        "prompt_cache_retention",
                                                        "prompt_cache_options",
                                                        "instructions",
                                                        "previous_response_id",
                                                        "conversation",
                                                        "prompt",
                                                        "truncation",
                                                        "max_tool_calls",
                                                        "context_management",
                                                        "moderation"};

class ResponsesBodyWriter {
 public:
  ResponsesBodyWriter(const Request& request, const EncodeOptions& options,
                      UpstreamRequest& encoded)
      : request_(request), options_(options), dropped_(encoded.dropped), object_(encoded.body) {}

  void write() {
    object_.string("model",
                   options_.model.empty() ? std::string_view(request_.model) : options_.model);
    ResponsesInput input = encode_responses_input(request_);
    for (DroppedField& field : input.dropped) dropped_.push_back(std::move(field));
    object_.raw("input", input.items);
    write_tools();
    std::string_view limit = field("max_completion_tokens");
    if (limit.empty()) limit = field("max_tokens");
    if (!limit.empty()) object_.raw("max_output_tokens", limit);
    write_reasoning();
    write_text();
    for (const std::string_view name : kSameName) {
      if (const std::string_view json = field(name); !json.empty()) object_.raw(name, json);
    }
    const std::string_view store = field("store");
    object_.raw("store", store.empty() ? "false" : store);
    write_include();
    const std::string_view padding = find_field(request_.stream_options, "include_obfuscation");
    if (options_.stream && !padding.empty()) {
      json::ObjectWriter stream_options(object_.key("stream_options"));
      stream_options.raw("include_obfuscation", padding);
      stream_options.close();
    }
    if (options_.stream) object_.boolean("stream", true);
    object_.close();
  }

 private:
  std::string_view field(std::string_view name) const { return find_field(request_.extra, name); }

  void write_tools() {
    const std::string tools = responses_tools(request_);
    if (tools.empty()) return;
    object_.raw("tools", tools);
    const std::string choice = responses_tool_choice(request_);
    if (!choice.empty()) object_.raw("tool_choice", choice);
    if (request_.parallel_tool_calls) {
      object_.boolean("parallel_tool_calls", *request_.parallel_tool_calls);
    }
  }

  using Member = std::pair<std::string_view, std::string>;  // name and JSON

  // The object that the caller gave under that name, with the members that it lacks.
  void write_merged(std::string_view name, std::span<const Member> more) {
    const std::string_view given = field(name);
    std::string json;
    json::ObjectWriter object(json);
    json::Reader in(given);
    if (in.peek() == json::Kind::object) {
      for (std::string_view key; in.next_member(key);) {
        const std::string inner(key);
        object.raw_escaped(inner, in.raw());
      }
    }
    for (const auto& [inner, value] : more) {
      if (!value.empty() && json::given_member(given, inner).empty()) object.raw(inner, value);
    }
    object.close();
    if (json != "{}") object_.raw(name, json);
  }

  void write_reasoning() {
    const std::array<Member, 1> more{Member{"effort", field("reasoning_effort")}};
    write_merged("reasoning", more);
  }

  void write_text() {
    const std::array<Member, 2> more{Member{"format", format_of(field("response_format"))},
                                     Member{"verbosity", field("verbosity")}};
    write_merged("text", more);
  }

  // {"type":"json_schema","json_schema":{"name":"x","schema":{...},"strict":true}}: what is nested there is flat here.
  static std::string format_of(std::string_view asked) {
    const std::string_view schema = json::given_member(asked, "json_schema");
    if (schema.empty()) return std::string(asked);
    std::string json;
    json::ObjectWriter format(json);
    format.string("type", "json_schema");
    const std::string_view name = json::given_member(schema, "name");
    format.raw("name", name.empty() ? "\"answer\"" : name);
    for (const std::string_view each : {"description", "schema", "strict"}) {
      if (const std::string_view value = json::given_member(schema, each); !value.empty()) {
        format.raw(each, value);
      }
    }
    format.close();
    return json;
  }

  // Sealed reasoning comes only where it is asked for. An empty list of the caller asks for nothing.
  void write_include() {
    std::string list(field("include"));
    if (list.empty()) list = R"(["reasoning.encrypted_content"])";
    constexpr std::string_view kLogprobs = R"("message.output_text.logprobs")";
    if (field("logprobs") == "true" && list.find(kLogprobs) == std::string::npos) {
      list.pop_back();
      if (list.find('"') != std::string::npos) list.push_back(',');
      list.append(kLogprobs).push_back(']');
    }
    if (list.find('"') != std::string::npos) object_.raw("include", list);
  }

  const Request& request_;
  const EncodeOptions& options_;
  std::vector<DroppedField>& dropped_;
  json::ObjectWriter object_;
};

Result<UpstreamRequest> encode_responses(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded{.path = "/responses"};
  encoded.headers.emplace_back("content-type", "application/json");
  encoded.headers.emplace_back("accept", options.stream ? "text/event-stream" : "application/json");
  add_key(encoded, options, "bearer");
  encoded.dropped = fields_left_behind(request, responses_fields());
  ResponsesBodyWriter(request, options, encoded).write();
  if (request.origin == kOpenaiResponses.name && !request.body.empty()) {
    encoded.body = same_format_body(request, options, encoded.body);
    encoded.dropped.clear();
  }
  return encoded;
}

std::unique_ptr<ResponseDecoder> make_responses_decoder(const Request& request) {
  if (request.origin != kOpenaiResponses.name) {
    return std::make_unique<ResponsesDecoder>(request.tools);
  }
  return std::make_unique<ResponsesDecoder>(request.tools, request.client.aliases);
}

}  // namespace

const WireFormat kOpenaiResponses = {
    .name = "openai_responses",
    .framing = WireFormat::Framing::sse,
    .encode = encode_responses,
    .make_decoder = make_responses_decoder,
    .structured_calls = true,
    .decode_error = decode_responses_error,
};

}  // namespace callgate::upstream
