#include "store/content_codec.h"

#include <limits>

#include "base/check.h"

namespace callgate::store {
namespace {

// No body is larger, and a damaged size must not take all memory.
constexpr std::uint64_t kLargestBody = std::uint64_t{1} << 30;
// The size of each part comes first, the lowest byte first.
constexpr std::size_t kSizeBytes = 4;
constexpr std::size_t kHeadBytes = kContentParts * kSizeBytes;

tl::unexpected<Fault> unreadable() {
  return fault(FaultKind::corrupt, "a stored body cannot be read");
}

std::size_t read_size(std::string_view bytes) {
  std::size_t size = 0;
  for (std::size_t i = kSizeBytes; i > 0; --i) {
    size = size << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return size;
}

Attempt<ContentParts<std::string>> split(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return unreadable();
  std::string_view rest = bytes.substr(kHeadBytes);
  ContentParts<std::string> parts;
  for (std::size_t i = 0; i < kContentParts; ++i) {
    const std::size_t size = read_size(bytes.substr(i * kSizeBytes));
    if (size > rest.size()) return unreadable();
    parts[i] = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  if (!rest.empty()) return unreadable();
  return parts;
}

}  // namespace

ContentEncoder::Encoded ContentEncoder::encode(std::string_view body) {
  if (body.size() < kSmallestCompressed) return {};
  std::string bytes = zstd_.encode(body);
  if (bytes.empty()) return {};
  return {.codec = Codec::zstd, .bytes = std::move(bytes)};
}

ContentEncoder::Encoded ContentEncoder::join(const ContentParts<std::string_view>& parts) {
  std::size_t size = kHeadBytes;
  for (const std::string_view part : parts) size += part.size();
  std::string bytes;
  bytes.reserve(size);
  for (const std::string_view part : parts) {
    CALLGATE_CHECK(part.size() <= std::numeric_limits<std::uint32_t>::max());
    for (std::size_t i = 0; i < kSizeBytes; ++i) {
      bytes.push_back(static_cast<char>(part.size() >> (8 * i) & 0xff));
    }
  }
  for (const std::string_view part : parts) bytes += part;
  Encoded encoded = encode(bytes);
  if (encoded.codec == Codec::zstd) return {Codec::joined_zstd, std::move(encoded.bytes)};
  return {Codec::joined, std::move(bytes)};
}

Attempt<ContentParts<std::string>> decode_content(std::int64_t place, std::int64_t codec,
                                                  std::string bytes) {
  if (codec < 0 || codec > static_cast<std::int64_t>(Codec::joined_zstd)) return unreadable();
  const auto kind = static_cast<Codec>(codec);
  if (kind == Codec::zstd || kind == Codec::joined_zstd) {
    std::optional<std::string> body = compress::decode_zstd_block(bytes, kLargestBody);
    if (!body) return unreadable();
    bytes = std::move(*body);
  }
  if (kind == Codec::joined || kind == Codec::joined_zstd) return split(bytes);
  ContentParts<std::string> parts;
  parts[static_cast<std::size_t>(place & 3)] = std::move(bytes);
  return parts;
}

}  // namespace callgate::store
