#include <zstd.h>

#include "base/check.h"
#include "compress/coding.h"

namespace callgate::compress {
namespace {

// RFC 9659: windows of at most 8 MiB over HTTP. A larger one would only take memory.
constexpr int kWindowLog = 23;

// Frames one after the other.
class Unzstd final : public Coding {
 public:
  Unzstd() : context_(ZSTD_createDCtx()) {
    CALLGATE_CHECK(context_ != nullptr);
    CALLGATE_CHECK(
        ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kWindowLog)) == 0);
  }
  ~Unzstd() override { ZSTD_freeDCtx(context_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  std::optional<std::size_t> step(std::string_view& in, std::span<char> out) override {
    while (!in.empty() || may_hold_output_) {
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t wanted = ZSTD_decompressStream(context_, &to, &from);
      if (ZSTD_isError(wanted) != 0) return std::nullopt;
      in.remove_prefix(from.pos);
      if (from.pos > 0 || to.pos > 0) in_frame_ = wanted != 0;
      may_hold_output_ = to.pos == to.size;
      if (to.pos > 0) return to.pos;
    }
    return 0;
  }
  bool is_whole() const override { return !in_frame_; }

 private:
  ZSTD_DCtx* context_;
  bool in_frame_ = false;
  bool may_hold_output_ = false;
};

}  // namespace

std::unique_ptr<Coding> make_unzstd() { return std::make_unique<Unzstd>(); }

}  // namespace callgate::compress
