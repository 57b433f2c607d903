// SipHash-2-4: a hash that nobody can find collisions for without knowing its key.
#pragma once

#include <cstdint>
#include <string_view>

namespace callgate {

struct HashKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

std::uint64_t keyed_hash(const HashKey& key, std::string_view bytes);

}  // namespace callgate
