// Upstream bytes -> frames, or one whole body. An upstream that was asked to stream may answer with a JSON body or a page,
// and the other way round: the first byte that is no white space tells.
//
//   {"id":...   [{"error":...   <html>...     a whole body          data: {...     : comment     event: x     frames
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "callgate/error.h"
#include "sse/decoder.h"
#include "upstream/wire_format.h"

namespace callgate::engine {

class Framing {
 public:
  Framing(WireFormat::Framing framing, std::size_t max_frame, std::size_t max_body);

  void push(std::string_view bytes, FrameFn on_frame);
  // The frame that was not ended, or the body.
  void finish(FrameFn on_frame, FunctionRef<void(std::string_view)> on_body);
  // A frame or the body grew over its limit.
  std::optional<Error> overflow() const;

 private:
  enum class State : std::uint8_t { undecided, frames, lines, body };

  void decide(std::string_view bytes, FrameFn on_frame);
  void add_to_body(std::string_view bytes);

  State state_;
  std::size_t max_body_;
  SseDecoder sse_;
  LineDecoder lines_;
  std::string body_;  // while undecided: white space and byte order mark
  bool body_overflowed_ = false;
};

}  // namespace callgate::engine
