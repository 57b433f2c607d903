// Whole bodies as zstd frames that state their size: fast to write, for what is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace callgate::compress {

class ZstdBlockEncoder {
 public:
  ZstdBlockEncoder();
  // Empty when that would not be smaller.
  std::string encode(std::string_view body);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

// Nothing when it is damaged or states more than `limit` bytes.
std::optional<std::string> decode_zstd_block(std::string_view bytes, std::uint64_t limit);

}  // namespace callgate::compress
