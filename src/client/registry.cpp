#include <algorithm>
#include <array>

#include "base/path_pattern.h"
#include "client/anthropic_messages/anthropic_messages.h"
#include "client/gemini/gemini.h"
#include "client/ollama/ollama.h"
#include "client/openai_chat/openai_chat.h"
#include "client/openai_completions/openai_completions.h"
#include "client/openai_responses/openai_responses.h"
#include "client/protocol.h"

namespace callgate::client {
namespace {

// A row per line. Paths that are nobody's, not even by where they begin, are the first one's.
// clang-format off
constexpr auto kAll = std::to_array<const Protocol*>({
    &kOpenaiChat,
    &kAnthropicMessages,
    &kGemini,
    &kOllama,
    &kOpenaiCompletions,
    &kOpenaiResponses,
});
// clang-format on

// A path that no endpoint has: its error is for the clients that ask below it.
const Protocol& for_unknown(const ClientRequest& request) {
  if (request.path.starts_with("/api/")) return kOllama;
  if (request.path.starts_with("/v1beta/")) return kGemini;
  return request.find_header("anthropic-version").empty() ? *kAll.front() : kAnthropicMessages;
}

}  // namespace

std::span<const Protocol* const> all() { return kAll; }

const Protocol* find(std::string_view name) {
  for (const Protocol* protocol : kAll) {
    if (protocol->name == name) return protocol;
  }
  return nullptr;
}

// An endpoint that names a header goes before one that does not.
const Protocol& for_request(const ClientRequest& request) {
  const Protocol* found = nullptr;
  for (const Protocol* protocol : kAll) {
    for (const Endpoint& endpoint : protocol->endpoints) {
      if (found != nullptr && endpoint.header.empty()) continue;
      if (!path_matches(endpoint.path, request.path)) continue;
      if (endpoint.header.empty()) {
        found = protocol;
      } else if (!request.find_header(endpoint.header).empty()) {
        return *protocol;
      }
    }
  }
  return found == nullptr ? for_unknown(request) : *found;
}

bool is_turn(const Protocol& protocol, std::string_view method, std::string_view path) {
  return std::any_of(protocol.endpoints.begin(), protocol.endpoints.end(),
                     [&](const Endpoint& endpoint) {
                       return endpoint.kind == Endpoint::Kind::turn && endpoint.method == method &&
                              path_matches(endpoint.path, path);
                     });
}

}  // namespace callgate::client
