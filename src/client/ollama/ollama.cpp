#include "client/ollama/ollama.h"

#include "base/sha256.h"
#include "base/utc_time.h"
#include "client/body.h"
#include "client/ollama/ollama_encoders.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// What clients compare with the version that a feature came with: callgate serves what that version serves.
constexpr std::string_view kOllamaVersion = R"({"version":"0.12.6"})";
// Nothing is loaded into the memory of this machine.
constexpr std::string_view kOllamaRunning = R"({"models":[]})";

constexpr Endpoint kOllamaEndpoints[] = {
    {.method = "POST", .path = "/api/chat", .kind = Endpoint::Kind::turn},
    {.method = "POST", .path = "/api/generate", .kind = Endpoint::Kind::turn},
    {.method = "GET", .path = "/api/tags", .kind = Endpoint::Kind::models},
    {.method = "POST", .path = "/api/show", .kind = Endpoint::Kind::model},
    {.method = "GET",
     .path = "/api/version",
     .kind = Endpoint::Kind::fixed,
     .answer = kOllamaVersion},
    {.method = "GET", .path = "/api/ps", .kind = Endpoint::Kind::fixed, .answer = kOllamaRunning},
};

// Clients take it for the identity of the model.
std::string ollama_digest(std::string_view id) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : Sha256().push(id).finish()) {
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

void append_ollama_details(json::ObjectWriter& object, const ModelEntry& model) {
  json::ObjectWriter details(object.key("details"));
  details.string("parent_model", "");
  details.string("format", "callgate");
  details.string("family", model.owner);
  std::string families;
  json::append_string(families, model.owner);
  details.raw("families", "[" + families + "]");
  details.string("parameter_size", "");
  details.string("quantization_level", "");
  details.close();
}

std::string ollama_models(std::span<const ModelEntry> models) {
  std::string body = "{\"models\":[";
  for (const ModelEntry& model : models) {
    if (body.back() == '}') body += ',';
    json::ObjectWriter object(body);
    object.string("name", model.id);
    object.string("model", model.id);
    object.string("modified_at", print_utc(model.created));
    object.integer("size", 0);
    object.string("digest", ollama_digest(model.id));
    append_ollama_details(object, model);
    object.close();
  }
  return body + "]}";
}

// Editors offer a model to their agents if it has `tools`, and cut prompts to its context.
std::string ollama_model(const ModelEntry& model) {
  constexpr std::int64_t kContextLength = 131'072;
  std::string body;
  json::ObjectWriter object(body);
  object.string("license", "");
  object.string("modelfile", "");
  object.string("parameters", "");
  object.string("template", "");
  append_ollama_details(object, model);
  json::ObjectWriter about(object.key("model_info"));
  about.string("general.architecture", "callgate");
  about.string("general.basename", model.id);
  about.integer("callgate.context_length", kContextLength);
  about.close();
  object.raw("capabilities", R"(["completion","tools","vision"])");
  object.string("modified_at", print_utc(model.created));
  object.close();
  return body;
}

// {"model":"m"}, or {"name":"m"} of older clients.
Result<std::string> ollama_named_model(const ClientRequest& request) {
  if (auto good = check_body(request.body); !good) return tl::unexpected(good.error());
  for (const std::string_view name : {"model", "name"}) {
    std::string model = json::member_text(request.body, name);
    if (!model.empty()) return model;
  }
  return tl::unexpected(Error{.code = ErrorCode::invalid_request,
                              .message = "model: missing, expected the name of a model",
                              .param = "model"});
}

}  // namespace

std::string ollama_error_body(const Error& error) {
  std::string body;
  json::ObjectWriter object(body);
  object.string("error", error.message);
  object.close();
  return body;
}

std::unique_ptr<ResponseEncoder> make_ollama_encoder(const Request& request,
                                                     const ResponseIdentity& identity) {
  return request.stream ? make_ollama_stream(request, identity)
                        : make_ollama_whole(request, identity);
}

const Protocol kOllama = {
    .name = "ollama",
    .endpoints = kOllamaEndpoints,
    .id_prefix = "chat-",
    .stream_type = "application/x-ndjson",
    .keep_alive = "",
    .decode = decode_ollama,
    .make_encoder = make_ollama_encoder,
    .error_body = ollama_error_body,
    .print_models = ollama_models,
    .print_model = ollama_model,
    .named_model = ollama_named_model,
};

}  // namespace callgate::client
