#include <brotli/decode.h>

#include "base/check.h"
#include "compress/coding.h"

namespace callgate::compress {
namespace {

class Unbrotli final : public Coding {
 public:
  Unbrotli() : decoder_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    CALLGATE_CHECK(decoder_ != nullptr);
  }
  ~Unbrotli() override { BrotliDecoderDestroyInstance(decoder_); }
  Unbrotli(const Unbrotli&) = delete;
  Unbrotli& operator=(const Unbrotli&) = delete;

  std::optional<std::size_t> step(std::string_view& in, std::span<char> out) override {
    if (BrotliDecoderIsFinished(decoder_) != 0) in = {};
    if (in.empty() && BrotliDecoderHasMoreOutput(decoder_) == 0) return 0;
    std::size_t in_left = in.size();
    const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
    std::size_t out_left = out.size();
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(decoder_, &in_left, &from, &out_left, &to, nullptr);
    if (result == BROTLI_DECODER_RESULT_ERROR) return std::nullopt;
    // What follows the end is padding.
    in.remove_prefix(result == BROTLI_DECODER_RESULT_SUCCESS ? in.size() : in.size() - in_left);
    return out.size() - out_left;
  }
  bool is_whole() const override {
    return BrotliDecoderIsUsed(decoder_) == 0 || BrotliDecoderIsFinished(decoder_) != 0;
  }

 private:
  BrotliDecoderState* decoder_;
};

}  // namespace

std::unique_ptr<Coding> make_unbrotli() { return std::make_unique<Unbrotli>(); }

}  // namespace callgate::compress
