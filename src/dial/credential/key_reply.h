// What a key_command prints, or a key_file holds: a credential, and perhaps when it expires. No I/O here.
//   sk-1234
//   {"token":"eyJ...","expires_in":3600}
//   {"access_token":"eyJ...","expires_at":1795000000}
//   {"token":"eyJ...","headers":{"cookie":"ssxmod_itna=..."}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/result.h"

namespace callgate::server {

struct KeyReply {
  std::string key;  // may be empty beside headers: a guest with a cookie
  std::vector<std::pair<std::string, std::string>> headers;  // sent with it
  std::optional<std::int64_t> expires_at;                    // Unix milliseconds

  bool empty() const { return key.empty() && headers.empty(); }
  bool operator==(const KeyReply&) const = default;
};

inline constexpr std::size_t kMostKeyReply = std::size_t{64} << 10;

// Fails if it holds no credential, or one that HTTP cannot send. The error never repeats what was read.
Result<KeyReply> read_key_reply(std::string_view text, std::int64_t now_ms);

}  // namespace callgate::server
