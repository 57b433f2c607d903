#include "compress/content_encoder.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

#include "base/check.h"

namespace callgate::compress {
namespace {

using Buffer = std::array<char, 16 * 1024>;

class Deflater final : public ContentEncoder {
 public:
  explicit Deflater(int window_bits) {
    CALLGATE_CHECK(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8,
                                Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~Deflater() override { deflateEnd(&stream_); }

 private:
  void run(std::string_view bytes, bool last, std::string& out) override {
    Buffer buffer;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream_, last ? Z_FINISH : Z_SYNC_FLUSH);
      out.append(buffer.data(), buffer.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
};

class Brotli final : public ContentEncoder {
 public:
  Brotli() : encoder_(BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)) {
    CALLGATE_CHECK(encoder_ != nullptr);
    BrotliEncoderSetParameter(encoder_, BROTLI_PARAM_QUALITY, 5);
    BrotliEncoderSetParameter(encoder_, BROTLI_PARAM_LGWIN, 18);
  }
  ~Brotli() override { BrotliEncoderDestroyInstance(encoder_); }

 private:
  void run(std::string_view bytes, bool last, std::string& out) override {
    Buffer buffer;
    std::size_t in_left = bytes.size();
    const auto* from = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto operation = last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH;
    do {
      std::size_t out_left = buffer.size();
      auto* to = reinterpret_cast<std::uint8_t*>(buffer.data());
      CALLGATE_CHECK(BrotliEncoderCompressStream(encoder_, operation, &in_left, &from, &out_left,
                                                 &to, nullptr) == BROTLI_TRUE);
      out.append(buffer.data(), buffer.size() - out_left);
    } while (in_left > 0 || BrotliEncoderHasMoreOutput(encoder_) == BROTLI_TRUE);
  }

  BrotliEncoderState* encoder_;
};

class Zstd final : public ContentEncoder {
 public:
  Zstd() : context_(ZSTD_createCCtx()) { CALLGATE_CHECK(context_ != nullptr); }
  ~Zstd() override { ZSTD_freeCCtx(context_); }

 private:
  void run(std::string_view bytes, bool last, std::string& out) override {
    Buffer buffer;
    ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer to{buffer.data(), buffer.size(), 0};
      left = ZSTD_compressStream2(context_, &to, &from, last ? ZSTD_e_end : ZSTD_e_flush);
      CALLGATE_CHECK(ZSTD_isError(left) == 0);
      out.append(buffer.data(), to.pos);
    } while (left > 0);
  }

  ZSTD_CCtx* context_;
};

}  // namespace

std::string_view coding_name(Format format) {
  switch (format) {
    case Format::gzip:
      return "gzip";
    case Format::deflate:
    case Format::bare_deflate:
      return "deflate";
    case Format::br:
      return "br";
    case Format::zstd:
      return "zstd";
  }
  return {};
}

std::unique_ptr<ContentEncoder> ContentEncoder::make(Format format) {
  switch (format) {
    case Format::gzip:
      return std::make_unique<Deflater>(MAX_WBITS + 16);
    case Format::deflate:
      return std::make_unique<Deflater>(MAX_WBITS);
    case Format::bare_deflate:
      return std::make_unique<Deflater>(-MAX_WBITS);
    case Format::br:
      return std::make_unique<Brotli>();
    case Format::zstd:
      return std::make_unique<Zstd>();
  }
  return nullptr;
}

std::string encode(Format format, std::string_view bytes) {
  const std::unique_ptr<ContentEncoder> encoder = ContentEncoder::make(format);
  std::string out;
  if (!bytes.empty()) encoder->push(bytes, out);
  encoder->finish(out);
  return out;
}

}  // namespace callgate::compress
