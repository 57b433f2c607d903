// The `gemini` wire format: POST /models/ID:streamGenerateContent?alt=sse and POST /models/ID:generateContent.
//
//   data: {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}],"usageMetadata":{...}}
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

extern const WireFormat kGemini;

// `format` of the reasoning_details that this wire format reports and takes back: signatures of parts. That of a call has
// the call's `index` in its message, and its `id` where the API gave one. Others say by `id` which part they stood on.
//   [{"type":"reasoning.encrypted","data":"CiQB","format":"google-gemini-v1","id":"ax7","index":0}]
inline constexpr std::string_view kGeminiReasoning = "google-gemini-v1";
inline constexpr std::string_view kGeminiTextPart = "text";
inline constexpr std::string_view kGeminiEndPart = "end";  // a part of its own, without text
inline constexpr std::string_view kGeminiThoughtPart = "thought";

// What the API takes for the signature of a call that it did not make itself, or whose signature is lost.
inline constexpr std::string_view kGeminiNoSignature = "skip_thought_signature_validator";

// Generation by name. What has no number that is known counts as the newest.
enum class GeminiModel : std::uint8_t {
  plain,     // before 2.5: does not think
  budgeted,  // 2.5: thinks within a budget of tokens
  levelled,  // 3 and later: thinks by level, wants signatures back, takes images in results
};
GeminiModel gemini_model(std::string_view id);

// What happens to each field of a request; docs/upstreams.md has the same table.
std::span<const RequestField> gemini_fields();

}  // namespace callgate::upstream
