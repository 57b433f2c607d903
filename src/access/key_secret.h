// Secrets of keys that callgate makes, and what is kept of them.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"

namespace callgate::server {

// `cg-` and 256 random bits of the system in base64url.
Secret make_key_secret();

// SHA-256 in hexadecimal digits. A secret of 256 random bits cannot be guessed from it, so it needs no salt and no slow
// hash; a secret that a person chose would, and is never stored.
std::string hash_of_secret(std::string_view secret);

}  // namespace callgate::server
