// Digests, from the library that has them for TLS.
#pragma once

#include <string>
#include <string_view>

namespace callgate::net {

// In lower-case hex.
std::string sha256_hex(std::string_view bytes);

}  // namespace callgate::net
