// What a key_command prints, or a key_file holds: a credential, and perhaps when it expires. No I/O here.
//   sk-1234
//   {"token":"eyJ...","expires_in":3600}
//   {"access_token":"eyJ...","expires_at":1795000000}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"

namespace callgate::server {

struct KeyReply {
  std::string key;
  std::optional<std::int64_t> expires_at;  // Unix milliseconds
};

inline constexpr std::size_t kMostKeyReply = std::size_t{64} << 10;

// Fails if it holds no credential, or one that HTTP cannot send. The error never repeats what was read.
Result<KeyReply> read_key_reply(std::string_view text, std::int64_t now_ms);

}  // namespace callgate::server
