#include "store/content_codec.h"

#include <zstd.h>

#include "base/check.h"

namespace callgate::store {
namespace {

// The fastest that still takes the repetition out of JSON.
constexpr int kLevel = 1;
// No body is larger, and a damaged size must not take all memory.
constexpr unsigned long long kLargestBody = 1ull << 30;

}  // namespace

void ContentEncoder::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ContentEncoder::ContentEncoder() : context_(ZSTD_createCCtx()) { CALLGATE_CHECK(context_); }

ContentEncoder::Encoded ContentEncoder::encode(std::string_view body) {
  if (body.size() <= kSmallestCompressed) return {};
  Encoded encoded{.codec = Codec::zstd, .bytes = std::string(ZSTD_compressBound(body.size()), 0)};
  const std::size_t size = ZSTD_compressCCtx(
      context_.get(), encoded.bytes.data(), encoded.bytes.size(), body.data(), body.size(), kLevel);
  if (ZSTD_isError(size) || size >= body.size()) return {};
  encoded.bytes.resize(size);
  return encoded;
}

Attempt<std::string> decode_content(std::int64_t codec, std::string bytes) {
  if (codec == static_cast<std::int64_t>(Codec::plain)) return bytes;
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (codec != static_cast<std::int64_t>(Codec::zstd) || size > kLargestBody) {
    return fault(FaultKind::corrupt, "a stored body cannot be read");
  }
  std::string body(static_cast<std::size_t>(size), 0);
  const std::size_t read = ZSTD_decompress(body.data(), body.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(read) || read != body.size()) {
    return fault(FaultKind::corrupt, "a stored body cannot be read");
  }
  return body;
}

}  // namespace callgate::store
