// The `anthropic_messages` wire format: POST /messages.
//
//   event: content_block_delta
//   data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

extern const WireFormat kAnthropicMessages;

// `format` of the reasoning_details that this wire format reports and takes back.
inline constexpr std::string_view kAnthropicReasoning = "anthropic-claude-v1";

// The API wants a limit; this is it where the caller gives none.
inline constexpr std::int64_t kAnthropicMaxTokens = 8192;

std::span<const RequestField> anthropic_fields();

}  // namespace callgate::upstream
