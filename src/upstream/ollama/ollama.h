// The `ollama` wire format: POST /api/chat, answered by lines of JSON.
//
//   {"model":"qwen3","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hello"},"done":false}
#pragma once

#include <span>

#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

extern const WireFormat kOllama;

std::span<const RequestField> ollama_fields();

}  // namespace callgate::upstream
