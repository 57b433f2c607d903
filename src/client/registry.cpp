#include <array>

#include "base/path_pattern.h"
#include "client/openai_chat.h"
#include "client/protocol.h"

namespace callgate::client {
namespace {

constexpr std::array<const Protocol*, 1> kAll = {
    &kOpenaiChat,
};

}  // namespace

std::span<const Protocol* const> all() { return kAll; }

const Protocol* find(std::string_view name) {
  for (const Protocol* protocol : kAll) {
    if (protocol->name == name) return protocol;
  }
  return nullptr;
}

const Protocol& for_path(std::string_view path) {
  for (const Protocol* protocol : kAll) {
    for (const Endpoint& endpoint : protocol->endpoints) {
      if (path_matches(endpoint.path, path)) return *protocol;
    }
  }
  return *kAll.front();
}

}  // namespace callgate::client
