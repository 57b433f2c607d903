// OpenAI Chat Completions as clients speak it. What is written satisfies the strictest clients at once:
//
//   data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
//     "delta":{"role":"assistant","content":""},"finish_reason":null}]}
//   ... content; then per call a delta with id, type and whole name, then deltas with arguments alone ...
//   data: {...,"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
//   data: {...,"choices":[],"usage":{...}}          only if stream_options.include_usage asked for it
//   data: [DONE]
//
// A failure inside a stream is one frame {"error":{message,type,param,code}} followed by [DONE]: every SDK throws at
// the error frame, and a stream that just stops makes some agents ask again without end. No finish reason is made up
// for the turn that failed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/protocol.h"

namespace callgate::client {

extern const Protocol kOpenaiChat;

Result<Request> decode_openai_chat(std::string_view body);
std::string openai_error_body(const Error& error);
std::unique_ptr<ResponseEncoder> make_openai_stream(const Request& request,
                                                    const ResponseIdentity& identity);
std::unique_ptr<ResponseEncoder> make_openai_whole(const Request& request,
                                                   const ResponseIdentity& identity);

}  // namespace callgate::client
