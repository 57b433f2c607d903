#include "client/openai_chat/openai_chat.h"

#include "json/writer.h"

namespace callgate::client {
namespace {

std::unique_ptr<ResponseEncoder> make_encoder(const Request& request,
                                              const ResponseIdentity& identity) {
  return request.stream ? make_openai_stream(request, identity)
                        : make_openai_whole(request, identity);
}

struct Words {
  std::string_view type;
  std::string_view code;  // empty: null
};

Words words_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
      return {"invalid_request_error", ""};
    case ErrorCode::unauthenticated:
      return {"invalid_request_error", "invalid_api_key"};
    case ErrorCode::forbidden:
      return {"permission_error", "forbidden"};
    case ErrorCode::not_found:
      return {"invalid_request_error", "model_not_found"};
    case ErrorCode::not_allowed:
      return {"invalid_request_error", "method_not_allowed"};
    case ErrorCode::conflict:
      return {"invalid_request_error", "conflict"};
    case ErrorCode::too_large:
      return {"invalid_request_error", "request_too_large"};
    case ErrorCode::rate_limited:
      return {"rate_limit_exceeded", "rate_limit_exceeded"};
    case ErrorCode::upstream_failed:
      return {"server_error", "upstream_failed"};
    case ErrorCode::unavailable:
      return {"server_error", "unavailable"};
    case ErrorCode::timed_out:
      return {"server_error", "timed_out"};
    case ErrorCode::internal:
      return {"server_error", "internal"};
  }
  return {};
}

void string_or_null(json::ObjectWriter& object, std::string_view name, std::string_view value) {
  if (value.empty()) {
    object.null(name);
  } else {
    object.string(name, value);
  }
}

}  // namespace

// What the upstream itself said of type and code goes before callgate's own words.
std::string openai_error_body(const Error& error) {
  const Words words = words_of(error.code);
  std::string body;
  json::ObjectWriter envelope(body);
  json::ObjectWriter object(envelope.key("error"));
  object.string("message", error.message);
  object.string("type", error.type.empty() ? words.type : std::string_view(error.type));
  string_or_null(object, "param", error.param);
  string_or_null(object, "code",
                 error.upstream_code.empty() ? words.code : std::string_view(error.upstream_code));
  object.close();
  envelope.close();
  return body;
}

namespace {

constexpr Endpoint kEndpoints[] = {
    {"POST", "/v1/chat/completions", Endpoint::Kind::turn},
    {"GET", "/v1/models", Endpoint::Kind::models},
    {"GET", "/v1/models/*", Endpoint::Kind::model},
};

Result<Request> decode(const ClientRequest& request) { return decode_openai_chat(request.body); }

void append_model(std::string& out, const ModelEntry& model) {
  json::ObjectWriter object(out);
  object.string("id", model.id);
  object.string("object", "model");
  object.integer("created", model.created);
  object.string("owned_by", model.owner);
  object.close();
}

std::string print_model(const ModelEntry& model) {
  std::string body;
  append_model(body, model);
  return body;
}

std::string print_models(std::span<const ModelEntry> models) {
  std::string body = "{\"object\":\"list\",\"data\":[";
  for (const ModelEntry& model : models) {
    if (body.back() == '}') body += ',';
    append_model(body, model);
  }
  return body + "]}";
}

}  // namespace

const Protocol kOpenaiChat = {
    .name = "openai_chat",
    .endpoints = kEndpoints,
    .id_prefix = "chatcmpl-",
    .stream_type = "text/event-stream; charset=utf-8",
    .keep_alive = ": keep-alive\n\n",
    .decode = decode,
    .make_encoder = make_encoder,
    .error_body = openai_error_body,
    .print_models = print_models,
    .print_model = print_model,
};

}  // namespace callgate::client
