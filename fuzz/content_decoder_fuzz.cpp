// Content codings are undone alike however the bytes are cut; what the encoders write comes back.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "compress/content_decoder.h"
#include "compress/content_encoder.h"

namespace callgate::compress {
namespace {

constexpr std::string_view kCodings[] = {"gzip",     "deflate", "br",          "zstd",
                                         "gzip, br", "br,zstd", "deflate,gzip"};
constexpr Format kFormats[] = {Format::gzip, Format::deflate, Format::bare_deflate, Format::br,
                               Format::zstd};
constexpr std::size_t kEnough = 1 << 20;

struct Outcome {
  std::string body;
  bool whole = true;
};

Outcome decode(std::string_view codings, std::string_view encoded, std::size_t step) {
  auto decoder = ContentDecoder::make(codings);
  CALLGATE_CHECK(decoder && !decoder->is_identity());
  Outcome outcome;
  while (!encoded.empty() && outcome.body.size() < kEnough) {
    const std::string piece(encoded.substr(0, step));  // its own memory: no view may outlive it
    encoded.remove_prefix(piece.size());
    decoder->push(piece);
    while (outcome.body.size() < kEnough) {
      const auto got = decoder->next();
      if (!got) return {.body = std::move(outcome.body), .whole = false};
      if (got->empty()) break;
      CALLGATE_CHECK(got->size() <= kPieceSize);
      outcome.body += *got;
    }
  }
  if (outcome.body.size() < kEnough) outcome.whole = decoder->finish().has_value();
  outcome.body.resize(std::min(outcome.body.size(), kEnough));
  return outcome;
}

void check_cuts(std::string_view codings, std::string_view bytes) {
  const Outcome whole = decode(codings, bytes, bytes.size());
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{61}}) {
    const Outcome cut = decode(codings, bytes, step);
    CALLGATE_CHECK(cut.whole == whole.whole);
    // Of damaged content the last bytes before the fault may be missing.
    if (whole.whole) CALLGATE_CHECK(cut.body == whole.body);
    if (!whole.whole) {
      CALLGATE_CHECK(cut.body.starts_with(whole.body) || whole.body.starts_with(cut.body));
    }
  }
}

}  // namespace
}  // namespace callgate::compress

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate::compress;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_cuts(kCodings[data[0] % std::size(kCodings)], bytes);
  const Format format = kFormats[data[0] % std::size(kFormats)];
  const Outcome back = decode(coding_name(format), encode(format, bytes), 1 + data[0]);
  CALLGATE_CHECK(back.whole && back.body == bytes.substr(0, kEnough));
  return 0;
}
