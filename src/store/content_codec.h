// How what was said is kept. The parts of a request are joined and compressed together: what was sent repeats what was received,
// the events repeat the response, and one row costs less than four. Older rows, and imported ones, hold one part each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compress/zstd_block.h"
#include "store/fault.h"

namespace callgate::store {

enum class Codec : std::uint8_t { plain = 0, zstd = 1, joined = 2, joined_zstd = 3 };

// Received, sent, response, events, and the text that a search looks into.
inline constexpr std::size_t kContentParts = 5;
inline constexpr std::size_t kSearchPart = 4;
template <class Text>
using ContentParts = std::array<Text, kContentParts>;

// Smaller ones are kept as they are.
inline constexpr std::size_t kSmallestCompressed = 256;

class ContentEncoder {
 public:
  struct Encoded {
    Codec codec = Codec::plain;
    std::string bytes;  // empty when the codec is plain: the body is what was given
  };
  // One part alone.
  Encoded encode(std::string_view body);
  // `joined` or `joined_zstd`.
  Encoded join(const ContentParts<std::string_view>& parts);

 private:
  compress::ZstdBlockEncoder zstd_;
};

// What a row of `content` holds; `place` says which part it is when it is one alone. corrupt when it is not what an encoder made.
Attempt<ContentParts<std::string>> decode_content(std::int64_t place, std::int64_t codec,
                                                  std::string bytes);

}  // namespace callgate::store
