// OpenAI Responses as clients speak it. What is written satisfies the strictest clients at once:
//
//   event: response.created
//   data: {"type":"response.created","sequence_number":0,"response":{...}}
//   ... response.in_progress; then per item: response.output_item.added, its parts and deltas, response.output_item.done ...
//   event: response.completed
//   data: {"type":"response.completed","sequence_number":9,"response":{...,"output":[...],"usage":{...}}}
//
// An item has one id wherever it is named, `arguments` of a call that was added is "", and the whole item is repeated when it is
// done and when the response is. A failure inside a stream is an `error` event, at which SDKs throw, and a `response.failed`, which
// is the only one that Codex shows.
#pragma once

#include <memory>
#include <string_view>

#include "client/protocol.h"

namespace callgate::client {

extern const Protocol kOpenaiResponses;

Result<Request> decode_openai_responses(std::string_view body);
std::unique_ptr<ResponseEncoder> make_responses_encoder(const Request& request,
                                                        const ResponseIdentity& identity);

}  // namespace callgate::client
