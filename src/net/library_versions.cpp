#include "net/library_versions.h"

#include <llhttp.h>
#include <openssl/crypto.h>

namespace callgate::net {

std::vector<LibraryVersion> library_versions() {
  const auto joined = [](int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  };
  return {
      {"llhttp", joined(LLHTTP_VERSION_MAJOR, LLHTTP_VERSION_MINOR, LLHTTP_VERSION_PATCH)},
      {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)}};
}

}  // namespace callgate::net
