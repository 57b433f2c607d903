// OpenAI's legacy Completions: POST /v1/completions. A prompt is sent as the only message of a chat; the answer is its text.
//
//   data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"text":"Hel","index":0,"logprobs":null,
//     "finish_reason":null}]}
//   ... data: {...,"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}]}
//   data: {...,"choices":[],"usage":{...}}          only if stream_options.include_usage asked for it
//   data: [DONE]
//
// Reasoning and calls have no place in it. `suffix`, `echo` and `logprobs` cannot be served by a chat and are refused.
#pragma once

#include <memory>

#include "client/protocol.h"

namespace callgate::client {

extern const Protocol kOpenaiCompletions;

Result<Request> decode_openai_completions(const ClientRequest& request);
std::unique_ptr<ResponseEncoder> make_completions_encoder(const Request& request,
                                                          const ResponseIdentity& identity);

}  // namespace callgate::client
