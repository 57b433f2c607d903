// Bytes -> server-sent-event frames, per WHATWG, and NDJSON lines as frames with data only.
//
//   data: {"choices":[...]}\n\n
//   event: ping\r\ndata: {}\r\n\r\n
//
// BOM once at the start; CR, LF and CRLF in any mix, cut anywhere; comments; several data lines joined by \n; `data:`
// without a space; an unfinished frame at the end is delivered by finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "sse/frame.h"

namespace callgate {

using FrameFn = FunctionRef<void(const SseFrame&)>;

class SseDecoder {
 public:
  explicit SseDecoder(std::size_t max_frame = std::size_t{8} << 20);

  // Views in a frame are valid during the call only. A frame that lies whole in `bytes` is not copied.
  void push(std::string_view bytes, FrameFn on_frame);
  void finish(FrameFn on_frame);
  // A line or frame grew over max_frame; nothing more is delivered.
  bool overflowed() const;
  std::uint64_t comments() const;  // comment lines seen: an upstream that is alive
};

class LineDecoder {
 public:
  explicit LineDecoder(std::size_t max_line = std::size_t{8} << 20);
  // Each line that is not blank is a frame.
  void push(std::string_view bytes, FrameFn on_frame);
  void finish(FrameFn on_frame);
  bool overflowed() const;
};

}  // namespace callgate
