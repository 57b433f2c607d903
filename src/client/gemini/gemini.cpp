#include "client/gemini/gemini.h"

#include <algorithm>

#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr Endpoint kGeminiEndpoints[] = {
    {"POST", "/v1beta/models/*:generateContent", Endpoint::Kind::turn},
    {"POST", "/v1beta/models/*:streamGenerateContent", Endpoint::Kind::turn},
    {"POST", "/v1beta/models/*:countTokens", Endpoint::Kind::count_tokens},
    {"GET", "/v1beta/models", Endpoint::Kind::models},
    {"GET", "/v1beta/models/*", Endpoint::Kind::model},
};

std::string_view gemini_status_word(int status) {
  switch (status) {
    case 401:
      return "UNAUTHENTICATED";
    case 403:
      return "PERMISSION_DENIED";
    case 404:
      return "NOT_FOUND";
    case 408:
    case 504:
      return "DEADLINE_EXCEEDED";
    case 409:
      return "ABORTED";
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 502:
    case 503:
    case 529:
      return "UNAVAILABLE";
    default:
      return status < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
  }
}

// The upstream's own word, where it is one of this API's.
bool is_status_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

void append_gemini_model(std::string& out, const ModelEntry& model) {
  constexpr std::int64_t kInputLimit = 131'072;
  constexpr std::int64_t kOutputLimit = 65'536;
  json::ObjectWriter object(out);
  object.string("name", "models/" + std::string(model.id));
  object.string("version", "1");
  object.string("displayName", model.id);
  object.string("description", "served by " + std::string(model.owner));
  object.integer("inputTokenLimit", kInputLimit);
  object.integer("outputTokenLimit", kOutputLimit);
  object.raw("supportedGenerationMethods",
             R"(["generateContent","streamGenerateContent","countTokens"])");
  object.close();
}

std::string gemini_model(const ModelEntry& model) {
  std::string body;
  append_gemini_model(body, model);
  return body;
}

std::string gemini_models(std::span<const ModelEntry> models) {
  std::string body = "{\"models\":[";
  for (const ModelEntry& model : models) {
    if (body.back() == '}') body += ',';
    append_gemini_model(body, model);
  }
  return body + "]}";
}

std::string gemini_token_count(std::int64_t tokens) {
  return "{\"totalTokens\":" + std::to_string(tokens) + "}";
}

std::unique_ptr<ResponseEncoder> make_gemini_encoder(const Request& request,
                                                     const ResponseIdentity& identity) {
  return request.stream ? make_gemini_stream(request, identity)
                        : make_gemini_whole(request, identity);
}

std::string_view gemini_stream_type(const Request& request) {
  return request.form == kGeminiArray ? "application/json; charset=utf-8" : "text/event-stream";
}

}  // namespace

std::string gemini_error_body(const Error& error) {
  const int status = kGemini.status_of(error);
  std::string body;
  json::ObjectWriter envelope(body);
  json::ObjectWriter object(envelope.key("error"));
  object.integer("code", status);
  object.string("message", error.message);
  object.string("status", is_status_word(error.type) ? std::string_view(error.type)
                                                     : gemini_status_word(status));
  if (!error.param.empty()) {
    std::string& details = object.key("details").append("[");
    json::ObjectWriter detail(details);
    detail.string("@type", "type.googleapis.com/google.rpc.BadRequest");
    std::string& violations = detail.key("fieldViolations").append("[");
    json::ObjectWriter violation(violations);
    violation.string("field", error.param);
    violation.string("description", error.message);
    violation.close();
    violations.push_back(']');
    detail.close();
    details.push_back(']');
  }
  object.close();
  envelope.close();
  return body;
}

const Protocol kGemini = {
    .name = "gemini",
    .endpoints = kGeminiEndpoints,
    .id_prefix = "gen-",
    .stream_type = "text/event-stream",
    .keep_alive = "",
    .decode = decode_gemini,
    .make_encoder = make_gemini_encoder,
    .error_body = gemini_error_body,
    .print_models = gemini_models,
    .print_model = gemini_model,
    .print_token_count = gemini_token_count,
    .type_of = gemini_stream_type,
    .key_header = "x-goog-api-key",
    .key_parameter = "key",
};

}  // namespace callgate::client
