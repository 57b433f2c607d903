#include "dial/text_tools.h"

#include "config/server_kind.h"
#include "dialect/special_tokens.h"

namespace callgate::server {
namespace {

// Most servers of the kind that is not said are vLLM, or speak as it does.
const ServerKind& server_of(const UpstreamConfig& upstream) {
  if (upstream.wire == "ollama") return *find_server_kind("ollama");
  const ServerKind* said = find_server_kind(upstream.server);
  return said == nullptr ? *find_server_kind("vllm") : *said;
}

}  // namespace

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
  if (model.tools == "prompt" || !can_leave_calls_in_text(upstream.wire)) return std::nullopt;
  if (model.tools != "text" && !text_only.has(upstream.name, model.name)) return std::nullopt;
  return text_tools_of(upstream, dialect);
}

}  // namespace callgate::server
