#include <array>

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

namespace {

bool path_matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with("/*")) return pattern == path;
  pattern.remove_suffix(1);
  return path.size() > pattern.size() && path.starts_with(pattern);
}

}  // namespace

const Protocol& for_path(std::string_view path) {
  for (const Protocol* protocol : kAll) {
    for (const Endpoint& endpoint : protocol->endpoints) {
      if (path_matches(endpoint.path, path)) return *protocol;
    }
  }
  return *kAll.front();
}

}  // namespace callgate::client
