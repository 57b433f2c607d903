#include "client/openai_responses/openai_responses.h"

#include "client/openai_chat/openai_chat.h"

namespace callgate::client {
namespace {

constexpr Endpoint kResponsesEndpoints[] = {
    {"POST", "/v1/responses", Endpoint::Kind::turn},
};

Result<Request> decode_responses(const ClientRequest& request) {
  return decode_openai_responses(request.body);
}

}  // namespace

const Protocol kOpenaiResponses = {
    .name = "openai_responses",
    .endpoints = kResponsesEndpoints,
    .id_prefix = "resp_",
    .stream_type = "text/event-stream; charset=utf-8",
    .keep_alive = ": keep-alive\n\n",
    .decode = decode_responses,
    .make_encoder = make_responses_encoder,
    .error_body = openai_error_body,
    .print_models = kOpenaiChat.print_models,
    .print_model = kOpenaiChat.print_model,
};

}  // namespace callgate::client
