// What a key_command prints is foreign: what is read of it fits a header, and an error does not repeat it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dial/credential/key_reply.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto reply = callgate::server::read_key_reply(text, 1'795'000'000'000);
  if (!reply) return 0;
  if (reply->key.empty() || reply->key.size() > (16U << 10)) std::abort();
  for (const char c : reply->key) {
    if (c <= ' ' || c >= 127) std::abort();
  }
  return 0;
}
