#include "access/key_secret.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "net/digest.h"

namespace callgate::server {
namespace {

constexpr std::string_view kSecretPrefix = "cg-";
constexpr std::size_t kSecretBytes = 32;
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::array<std::uint8_t, kSecretBytes> random_bytes() {
  std::array<std::uint8_t, kSecretBytes> bytes{};
  // The kernel gives so few bytes at once or fails; a key made of anything else must not exist.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  return bytes;
}

}  // namespace

Secret make_key_secret() {
  std::string text(kSecretPrefix);
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::uint8_t byte : random_bytes()) {
    bits = (bits << 8 | byte) & 0xFFFF;
    for (count += 8; count >= 6; count -= 6) text += kBase64Url[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kBase64Url[bits << (6 - count) & 63];
  return Secret(std::move(text));
}

std::string hash_of_secret(std::string_view secret) { return net::sha256_hex(secret); }

}  // namespace callgate::server
