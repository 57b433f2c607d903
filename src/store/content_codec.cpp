#include "store/content_codec.h"

namespace callgate::store {
namespace {

// No body is larger, and a damaged size must not take all memory.
constexpr std::uint64_t kLargestBody = std::uint64_t{1} << 30;

}  // namespace

ContentEncoder::Encoded ContentEncoder::encode(std::string_view body) {
  if (body.size() <= kSmallestCompressed) return {};
  std::string bytes = zstd_.encode(body);
  if (bytes.empty()) return {};
  return {.codec = Codec::zstd, .bytes = std::move(bytes)};
}

Attempt<std::string> decode_content(std::int64_t codec, std::string bytes) {
  if (codec == static_cast<std::int64_t>(Codec::plain)) return bytes;
  std::optional<std::string> body;
  if (codec == static_cast<std::int64_t>(Codec::zstd)) {
    body = compress::decode_zstd_block(bytes, kLargestBody);
  }
  if (!body) return fault(FaultKind::corrupt, "a stored body cannot be read");
  return std::move(*body);
}

}  // namespace callgate::store
