// How bodies are kept: as they are, or compressed with zstd when they are larger than 1 KiB and
// that makes them smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compress/zstd_block.h"
#include "store/fault.h"

namespace callgate::store {

enum class Codec : std::uint8_t { plain = 0, zstd = 1 };

// Compressing a kilobyte costs as much as half of the request that it tells of, and saves half of it.
inline constexpr std::size_t kSmallestCompressed = 4096;

class ContentEncoder {
 public:
  struct Encoded {
    Codec codec = Codec::plain;
    std::string bytes;  // empty when the codec is plain: the body is what was given
  };
  Encoded encode(std::string_view body);

 private:
  compress::ZstdBlockEncoder zstd_;
};

// corrupt when it is not what an encoder made.
Attempt<std::string> decode_content(std::int64_t codec, std::string bytes);

}  // namespace callgate::store
