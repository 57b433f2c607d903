#include "compress/zstd_block.h"

#include <zstd.h>

#include "base/check.h"

namespace callgate::compress {
namespace {

// The fastest that still takes the repetition out of JSON. What is small gains little from more, and level 1 takes three times as
// long for it.
constexpr int kLevel = 1;
constexpr int kSmallLevel = -5;
constexpr std::size_t kSmall = 8192;

}  // namespace

void ZstdBlockEncoder::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ZstdBlockEncoder::ZstdBlockEncoder() : context_(ZSTD_createCCtx()) { CALLGATE_CHECK(context_); }

std::string ZstdBlockEncoder::encode(std::string_view body) {
  const int level = body.size() <= kSmall ? kSmallLevel : kLevel;
  std::string bytes(ZSTD_compressBound(body.size()), 0);
  const std::size_t size = ZSTD_compressCCtx(context_.get(), bytes.data(), bytes.size(),
                                             body.data(), body.size(), level);
  if (ZSTD_isError(size) || size >= body.size()) return {};
  bytes.resize(size);
  return bytes;
}

std::optional<std::string> decode_zstd_block(std::string_view bytes, std::uint64_t limit) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > limit) return std::nullopt;  // an unknown size and an error are larger than any limit
  std::string body(static_cast<std::size_t>(size), 0);
  const std::size_t read = ZSTD_decompress(body.data(), body.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(read) || read != body.size()) return std::nullopt;
  return body;
}

}  // namespace callgate::compress
