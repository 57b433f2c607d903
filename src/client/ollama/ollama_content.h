// Images of an Ollama message, whose kind nobody says, as canonical content.
#pragma once

#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate::client {

// `json`: a JSON string. True if its text may be base64.
bool is_ollama_image(std::string_view json);

// Content as Chat Completions has it: a string for a text alone, else parts. `images` are JSON strings in base64; what kind
// each is shows in its first bytes.
RawJson ollama_content(std::string_view text, const std::vector<std::string_view>& images);

}  // namespace callgate::client
