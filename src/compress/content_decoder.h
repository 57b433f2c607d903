// ContentDecoder: undoes the content codings of an HTTP message while its bytes arrive.
//
//   content-encoding: gzip          content-encoding: deflate, br        in the order in which they were applied
//
// Understands gzip (x-gzip, several members), deflate (with and without the zlib wrapper), br and zstd. What the sender
// flushed comes out at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "compress/coding.h"

namespace callgate::compress {

// As Error::upstream_code: trying the same again does not help.
inline constexpr std::string_view kUnsupportedCoding = "unsupported_content_encoding";
inline constexpr std::string_view kTooDense = "content_encoding_ratio";

// Bytes that come out at a time.
inline constexpr std::size_t kPieceSize = 32 * 1024;
// An answer may always grow to so many bytes, and beyond that to so many times what was received: compressed text of
// models stays far below, what is made to exhaust memory or time does not.
inline constexpr std::uint64_t kFreeOutput = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kMaxRatio = 400;
inline constexpr std::size_t kMaxCodings = 4;

class ContentDecoder {
 public:
  // `codings` is the header's value. Fails with upstream_failed for a coding that is not known, and names it. Errors begin
  // with `message`.
  static Result<ContentDecoder> make(std::string_view codings,
                                     std::string_view message = "the answer");

  // There is nothing to undo. REQUIRES of the others: there is.
  bool is_identity() const { return stages_.empty(); }

  // More of what was received. REQUIRES: next() had nothing more to give.
  void push(std::string_view encoded);
  // The next decoded bytes; empty: push() more. Valid until next() is called again. After an error nothing follows.
  Result<std::string_view> next();
  // The message is over. Fails when its content is not.
  Result<void> finish() const;

 private:
  struct Stage {
    std::string name;
    std::unique_ptr<Coding> coding;
    std::string held;        // its input, owned
    std::string_view input;  // what is left of it
    std::uint64_t written = 0;
  };

  Result<std::size_t> fill(std::size_t stage, std::span<char> out);

  std::vector<Stage> stages_;  // the first one reads what was received
  std::string message_;
  std::string piece_;
  std::uint64_t received_ = 0;
};

}  // namespace callgate::compress
