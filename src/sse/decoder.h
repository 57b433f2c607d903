// Bytes -> server-sent-event frames, per WHATWG, and NDJSON lines as frames with data only.
//
//   data: {"choices":[...]}\n\n
//   event: ping\r\ndata: {}\r\n\r\n
//
// BOM once at the start; CR, LF and CRLF in any mix, cut anywhere; comments; several data lines joined by \n; `data:`
// without a space; an unfinished frame at the end is delivered by finish(), so that nothing is lost.
//
// Beyond the standard, for servers that do not keep to it: a line without a known field goes on with the data before it, where
// that is half a JSON object or the line cannot be meant as a field. So a line end may stand in a string as it is. And a
// line that begins with `{` is data without its name.
//
//   data: {"text":"two\nlines"}\n\n          {"error":{"message":"overloaded"}}\n
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // A line, or the data of a frame, grew over max_frame; nothing more is delivered and no memory is held.
  bool overflowed() const { return overflowed_; }
  // What the last `retry` field said, in milliseconds.
  std::optional<std::uint32_t> retry() const { return retry_; }
  // Comment lines seen: an upstream that is alive.
  std::uint64_t comments() const { return comments_; }
  // Bytes of a frame that has not ended. A comment is not part of one.
  std::size_t unfinished() const {
    return data_.size() + (line_.starts_with(':') ? 0 : line_.size());
  }

 private:
  std::string_view skip_bom(std::string_view bytes);
  void take_line(std::string_view line, FrameFn on_frame);
  void take_buffered_line(FrameFn on_frame);
  void take_odd_line(std::string_view line);
  void take_field(std::string_view name, std::string_view value);
  void add_data(std::string_view value);
  std::string_view data() const;
  void deliver(FrameFn on_frame);
  void keep(std::string_view unfinished_line);
  void overflow();

  std::size_t max_frame_;
  // The data of the frame so far: a view into the bytes of this push, or data_ from data_start_ on.
  std::string_view borrowed_;
  std::string data_;
  std::size_t data_start_ = 0;
  enum class Held : std::uint8_t { none, borrowed, owned } held_ = Held::none;
  std::string line_;  // the start of a line whose end is not here yet
  std::string event_;
  std::string id_;
  std::uint64_t comments_ = 0;
  std::optional<std::uint32_t> retry_;
  bool bare_ = false;             // the data of the frame came without the name of its field
  std::uint8_t bom_matched_ = 0;  // 3 once the start of the stream is over
  bool after_cr_ = false;  // a line feed that comes now belongs to the line that ended already
  bool overflowed_ = false;
};

// Lines end at LF or CRLF.
class LineDecoder {
 public:
  explicit LineDecoder(std::size_t max_line = std::size_t{8} << 20);
  // Each line that is not blank is a frame, whose data is valid during the call only.
  void push(std::string_view bytes, FrameFn on_frame);
  void finish(FrameFn on_frame);
  bool overflowed() const { return overflowed_; }
  // Bytes of a line that has not ended.
  std::size_t unfinished() const { return line_.size(); }

 private:
  void take_line(std::string_view line, FrameFn on_frame);
  bool keep(std::string_view bytes);

  std::size_t max_line_;
  std::string line_;  // the start of a line whose end is not here yet
  bool overflowed_ = false;
};

}  // namespace callgate
