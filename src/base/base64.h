// Base64 as RFC 4648 section 4 writes it, with padding: `aGk=`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace callgate::base64 {

void append_encoded(std::string& out, std::string_view bytes);
// Nothing when `text` is not what append_encoded() writes.
std::optional<std::string> decode(std::string_view text);

}  // namespace callgate::base64
