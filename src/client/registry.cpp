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

}  // namespace callgate::client
