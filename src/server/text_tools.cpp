#include "server/text_tools.h"

#include <algorithm>
#include <array>

#include "dialect/special_tokens.h"

namespace callgate::server {
namespace {

struct ServerKind {
  std::string_view name;
  // `tool_choice: "none"` keeps the tools in the prompt and turns the server's own parser off.
  bool none_shows_tools = false;
  bool has_skip_special_tokens = false;  // and leaves special tokens out unless it is false
};

// SGLang takes the tools out of the prompt for "none", and keeps special tokens of its own accord for requests with tools.
// Ollama and LM Studio always parse; what they cannot read stays text.
constexpr std::array<ServerKind, 5> kServers{{
    {.name = "vllm", .none_shows_tools = true, .has_skip_special_tokens = true},
    {.name = "llama_cpp", .none_shows_tools = true},
    {.name = "sglang"},
    {.name = "ollama"},
    {.name = "lm_studio"},
}};

const ServerKind* find_server(std::string_view name) {
  const auto at = std::find_if(kServers.begin(), kServers.end(),
                               [&](const ServerKind& kind) { return kind.name == name; });
  return at == kServers.end() ? nullptr : &*at;
}

// Most servers of the kind that is not said are vLLM, or speak as it does.
const ServerKind& server_of(const UpstreamConfig& upstream) {
  if (upstream.wire == "ollama") return *find_server("ollama");
  const ServerKind* said = find_server(upstream.server);
  return said == nullptr ? kServers.front() : *said;
}

}  // namespace

bool is_server_kind(std::string_view word) { return find_server(word) != nullptr; }

bool can_leave_calls_in_text(const UpstreamConfig& upstream) {
  return upstream.wire == "openai_chat" || upstream.wire == "ollama" || upstream.wire == "script";
}

engine::TextTools text_tools_of(const UpstreamConfig& upstream, std::string_view dialect) {
  const ServerKind& server = server_of(upstream);
  return {.choose_none = server.none_shows_tools,
          .keep_special_tokens =
              server.has_skip_special_tokens && dialect::writes_special_tokens(dialect)};
}

// A forced tool is refused in other words, which name only the second of the two flags.
bool lacks_call_parser(const Error& error) {
  return error.status == 400 &&
         (error.message.find("--enable-auto-tool-choice") != std::string::npos ||
          error.message.find("--tool-call-parser") != std::string::npos);
}

std::optional<engine::TextTools> text_tools_for(const UpstreamConfig& upstream,
                                                const ModelConfig& model, std::string_view dialect,
                                                const LearnedPairs& text_only) {
  if (model.tools == "prompt" || !can_leave_calls_in_text(upstream)) return std::nullopt;
  if (model.tools != "text" && !text_only.has(upstream.name, model.name)) return std::nullopt;
  return text_tools_of(upstream, dialect);
}

}  // namespace callgate::server
