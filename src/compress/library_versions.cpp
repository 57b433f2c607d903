#include "compress/library_versions.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

namespace callgate::compress {

std::vector<LibraryVersion> library_versions() {
  const std::uint32_t brotli = BrotliDecoderVersion();
  return {{"brotli", std::to_string(brotli >> 24) + "." + std::to_string(brotli >> 12 & 0xfff) +
                         "." + std::to_string(brotli & 0xfff)},
          {"zlib", zlibVersion()},
          {"zstd", ZSTD_versionString()}};
}

}  // namespace callgate::compress
