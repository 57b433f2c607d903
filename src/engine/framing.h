// Upstream bytes -> frames, or one whole body. An upstream that was asked to stream may answer with a JSON body or a page,
// and the other way round: the first byte that is not white space decides.
//
//   {"id":...   [{"error":...   <html>...     a whole body          data: {...     : comment     event: x     frames
//
// Where the wire format knows streams that are one JSON array, written over time, the elements of an array are frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "callgate/error.h"
#include "json/scanner.h"
#include "sse/decoder.h"
#include "upstream/wire_format.h"

namespace callgate::engine {

// An upstream sent `what` beyond its limit.
Error too_large(std::string_view what);

// The elements of one JSON array as frames: [{"a":1},{"b":2}]
class ArrayDecoder {
 public:
  explicit ArrayDecoder(std::size_t max_element);
  // REQUIRES: the first byte is the opening bracket. An element that lies whole in `bytes` is not copied. Text that is not
  // JSON is delivered up to the fault, and nothing after it.
  void push(std::string_view bytes, FrameFn on_frame);
  // The element that was not ended.
  void finish(FrameFn on_frame);
  bool overflowed() const { return overflowed_; }
  std::size_t unfinished() const { return held_.size(); }

 private:
  enum class State : std::uint8_t { before, between, element, over };

  std::size_t take_element(std::string_view bytes, FrameFn on_frame);
  void deliver(std::string_view rest, FrameFn on_frame);

  State state_ = State::before;
  std::size_t max_element_;
  json::Scanner scanner_;
  std::string held_;  // the start of an element whose end is not here yet
  bool overflowed_ = false;
};

class Framing {
 public:
  Framing(WireFormat::Framing framing, std::size_t max_frame, std::size_t max_body);

  void push(std::string_view bytes, FrameFn on_frame);
  // The frame that was not ended, or the body.
  void finish(FrameFn on_frame, FunctionRef<void(std::string_view)> on_body);
  // A frame or the body grew over its limit.
  std::optional<Error> overflow() const;
  // Bytes of an unfinished frame, or of a body.
  std::size_t held() const { return body_.size() + unfinished(); }
  // Grows while a body arrives, or a frame that is longer than what is read at once. White space does not count.
  std::uint64_t progress() const { return progress_; }

 private:
  enum class State : std::uint8_t { undecided, frames, lines, array, body };

  void decide(std::string_view bytes, FrameFn on_frame);
  void add_to_body(std::string_view bytes);
  void take(std::string_view bytes, FrameFn on_frame);
  std::size_t unfinished() const;

  State state_;
  bool takes_arrays_;
  std::size_t max_body_;
  SseDecoder sse_;
  LineDecoder lines_;
  ArrayDecoder array_;
  std::string body_;  // while undecided: white space and byte order mark
  bool body_overflowed_ = false;
  std::uint64_t progress_ = 0;
  std::size_t counted_ = 0;  // bytes of the unfinished frame that were counted
};

}  // namespace callgate::engine
