#include "config/server_kind.h"

#include <algorithm>
#include <array>

namespace callgate::server {
namespace {

// SGLang takes the tools out of the prompt for "none", and keeps special tokens of its own accord for requests with tools.
// Ollama and LM Studio always parse; what they cannot read stays text.
constexpr std::array<ServerKind, 5> kServers{{
    {.name = "vllm", .none_shows_tools = true, .has_skip_special_tokens = true},
    {.name = "llama_cpp", .none_shows_tools = true},
    {.name = "sglang"},
    {.name = "ollama"},
    {.name = "lm_studio"},
}};

}  // namespace

const ServerKind* find_server_kind(std::string_view name) {
  const auto at = std::find_if(kServers.begin(), kServers.end(),
                               [&](const ServerKind& kind) { return kind.name == name; });
  return at == kServers.end() ? nullptr : &*at;
}

bool can_leave_calls_in_text(std::string_view wire) {
  return wire == "openai_chat" || wire == "ollama" || wire == "script";
}

}  // namespace callgate::server
