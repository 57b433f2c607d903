#include "inspector/page_assets.h"

#include <array>

#include "base/sha256.h"
#include "base/text.h"
#include "compress/content_decoder.h"
#include "page_assets.inc"

namespace callgate::server {

std::span<const PageAsset> page_assets() { return kPageAssets; }

const PageAsset* find_page_asset(std::string_view path) {
  for (const PageAsset& asset : kPageAssets) {
    if (asset.path == path) return &asset;
  }
  return nullptr;
}

std::string entity_tag(const PageAsset& asset, bool gzipped) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const Sha256::Digest digest = Sha256().push(asset.bytes).finish();
  std::string tag = "\"";
  for (std::size_t i = 0; i < 12; ++i) {
    tag += kHex[digest[i] >> 4];
    tag += kHex[digest[i] & 15];
  }
  return tag + (gzipped ? "-gz\"" : "\"");
}

std::string plain_bytes(const PageAsset& asset) {
  if (!asset.gzipped) return std::string(asset.bytes);
  std::string plain;
  auto decoder = compress::ContentDecoder::make("gzip");
  if (!decoder) return plain;
  decoder->push(asset.bytes);
  for (auto piece = decoder->next(); piece && !piece->empty(); piece = decoder->next()) {
    plain.append(*piece);
  }
  return plain;
}

bool takes(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view item = trimmed(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    const std::size_t semicolon = item.find(';');
    const std::string_view name = trimmed(item.substr(0, semicolon));
    if (to_lower(name) != word) continue;
    const std::string_view parameters =
        semicolon == std::string_view::npos ? std::string_view() : item.substr(semicolon + 1);
    const std::string_view quality = trimmed(parameters);
    return quality != "q=0" && quality != "q=0.0" && quality != "q=0.00" && quality != "q=0.000";
  }
  return false;
}

}  // namespace callgate::server
