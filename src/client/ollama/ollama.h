// Ollama's API as clients speak it: POST /api/chat and /api/generate, and what editors ask before: /api/tags, /api/show,
// /api/version. A stream is a line of JSON per delta, and the last one says that it is:
//
//   {"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hel"},"done":false}
//   {"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1",
//     "function":{"index":0,"name":"find","arguments":{"q":"tea"}}}]},"done":false}
//   {"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,
//     "done_reason":"stop","prompt_eval_count":26,"eval_count":12}
//
// A call is written when it is complete, because its arguments are an object. A failure is {"error":"text"}, with a status or as
// the last line. A silent stream stays silent: clients in the field read every line as JSON, and an empty one is none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/protocol.h"

namespace callgate::client {

extern const Protocol kOllama;

// Request::form of /api/generate, whose answers say `response` and not `message`.
inline constexpr std::string_view kOllamaGenerate = "generate";

Result<Request> decode_ollama(const ClientRequest& request);
std::string ollama_error_body(const Error& error);
std::unique_ptr<ResponseEncoder> make_ollama_encoder(const Request& request,
                                                     const ResponseIdentity& identity);

}  // namespace callgate::client
