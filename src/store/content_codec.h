// How bodies are kept: as they are, or compressed with zstd when they are larger than 1 KiB and
// that makes them smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "store/fault.h"

struct ZSTD_CCtx_s;

namespace callgate::store {

enum class Codec : std::uint8_t { plain = 0, zstd = 1 };

inline constexpr std::size_t kSmallestCompressed = 1024;

class ContentEncoder {
 public:
  ContentEncoder();

  struct Encoded {
    Codec codec = Codec::plain;
    std::string bytes;  // empty when the codec is plain: the body is what was given
  };
  Encoded encode(std::string_view body);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

// corrupt when it is not what an encoder made.
Attempt<std::string> decode_content(std::int64_t codec, std::string bytes);

}  // namespace callgate::store
