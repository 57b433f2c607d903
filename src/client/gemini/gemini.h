// Google's Gemini API as clients speak it: POST /v1beta/models/ID:generateContent and :streamGenerateContent, and the lists of
// models. Every frame of a stream is a whole GenerateContentResponse:
//
//   data: {"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r"}
//   data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"call_1","name":"find","args":{"q":"tea"}}}],...
//   data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],
//     "usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":11,"totalTokenCount":20},...}
//
// Without `alt=sse` the same objects are the elements of one array. A call is written when it is complete, because its
// arguments are an object. There are no comments: clients in the field cannot read them. A failure is
// {"error":{"code":503,"message":"...","status":"UNAVAILABLE"}}, with a status or as the last object.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/protocol.h"

namespace callgate::client {

extern const Protocol kGemini;

// Request::form of a stream that is an array.
inline constexpr std::string_view kGeminiArray = "array";

// What an issuer's own wire format says of signatures; upstream/gemini/gemini.h has the same.
inline constexpr std::string_view kGeminiFormat = "google-gemini-v1";

Result<Request> decode_gemini(const ClientRequest& request);
std::string gemini_error_body(const Error& error);
std::unique_ptr<ResponseEncoder> make_gemini_stream(const Request& request,
                                                    const ResponseIdentity& identity);
std::unique_ptr<ResponseEncoder> make_gemini_whole(const Request& request,
                                                   const ResponseIdentity& identity);

}  // namespace callgate::client
