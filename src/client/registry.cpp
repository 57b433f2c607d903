#include <array>

#include "base/path_pattern.h"
#include "client/anthropic_messages/anthropic_messages.h"
#include "client/openai_chat/openai_chat.h"
#include "client/protocol.h"

namespace callgate::client {
namespace {

constexpr std::array<const Protocol*, 2> kAll = {
    &kOpenaiChat,
    &kAnthropicMessages,
};

}  // namespace

std::span<const Protocol* const> all() { return kAll; }

const Protocol* find(std::string_view name) {
  for (const Protocol* protocol : kAll) {
    if (protocol->name == name) return protocol;
  }
  return nullptr;
}

const Protocol& for_request(const ClientRequest& request) {
  const Protocol* found = nullptr;
  for (const Protocol* protocol : kAll) {
    for (const Endpoint& endpoint : protocol->endpoints) {
      if (!path_matches(endpoint.path, request.path)) continue;
      if (!endpoint.header.empty() && !request.find_header(endpoint.header).empty()) {
        return *protocol;
      }
      if (endpoint.header.empty() && found == nullptr) found = protocol;
    }
  }
  return found == nullptr ? *kAll.front() : *found;
}

}  // namespace callgate::client
