// Parts of a GenerateContent request, made from what a canonical message holds.
//
//   {"text":"What is this?"}     {"inlineData":{"mimeType":"image/png","data":"AA=="}}
//   {"fileData":{"fileUri":"https://example.org/a.png","mimeType":"image/png"}}
//   {"functionCall":{"id":"ax7","name":"find","args":{"q":"tea"}},"thoughtSignature":"CiQB"}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {

// JSON of a part. Empty: there is nothing to send, or (`lost`) no form to send it in.
std::string gemini_part(const ContentPart& part, bool& lost);

// `signature` may be empty.
std::string gemini_text(std::string_view text, std::string_view signature, bool thought = false);
// Arguments that are not a JSON object travel as {"raw": "..."}. An empty `id` is left out.
std::string gemini_call(const CallRecord& call, std::string_view id, std::string_view signature);

// What a tool answered, as an object: {"output":"18 °C"}, {"error":"no city"}, or the object that it wrote.
std::string gemini_response(std::string_view text, bool failed);

// A signature that came from this wire format.
struct GeminiSignature {
  std::string id;  // of a call, or the name of another part
  std::optional<std::int64_t> call;
  std::string data;
};
std::vector<GeminiSignature> gemini_signatures(const Message& message);

// The id that the API gave a call. Empty for ids that callgate or others mint, call_ and 24 letters or digits: the API never saw
// them.
std::string_view gemini_call_id(std::string_view id);

}  // namespace callgate::upstream
