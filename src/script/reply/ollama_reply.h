// The scripted model in the ollama wire format:
//   {"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hi"},"done":false}
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kOllamaReply;

// What the server tells of itself and its models: `path` is that of a request to /api/tags, /api/version, /api/ps or
// /api/show, whose body names the model. nullopt: it has no such path, or no such model.
std::optional<std::string> ollama_catalog(std::string_view path, std::string_view body,
                                          std::span<const std::string> models);
bool is_ollama_catalog(std::string_view path);

}  // namespace callgate::script
