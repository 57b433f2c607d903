// A reply rendered once: all its bytes in one buffer, and what to do with them in order. Serving it again costs no
// rendering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/fault.h"

namespace callgate::script {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Rendering {
  struct Op {
    enum class Kind : std::uint8_t { write, wait, respond, reset, close, hang };
    Kind kind = Kind::write;
    std::size_t begin = 0;     // write, respond: where its bytes are
    std::size_t size = 0;      // write of size 0: the head alone
    std::uint32_t amount = 0;  // write: bytes per write, 0 for all at once; wait: milliseconds
  };
  std::string bytes;
  std::vector<Op> ops;
  int status = 200;
  Headers headers;
  bool streamed = true;
  std::optional<Fault> coding;  // one of kCodings: how the body is to be encoded
};

// When bytes leave.
struct WriteMode {
  enum class Kind : std::uint8_t {
    frame,  // each frame in a write of its own
    all,    // as few writes as the waits allow
    sized,  // writes of `size` bytes, wherever that cuts frames
  };
  Kind kind = Kind::frame;
  std::uint32_t size = 0;
};

// Writes a rendering: append a frame to bytes(), then call end_frame().
class Tape {
 public:
  std::string& bytes() { return rendering_.bytes; }
  void end_frame();

  void wait(std::uint32_t milliseconds);
  // A wait before each frame from now on; 0 ends that.
  void set_pace(std::uint32_t milliseconds);
  void set_write_mode(WriteMode mode);
  // Of all bytes only the first `size` leave, then the connection closes.
  void truncate(std::size_t size) { truncate_at_ = size; }
  void head();
  void end(Rendering::Op::Kind how);  // reset, close or hang
  void respond(int status, Headers headers, std::string_view body);

  // `headers` are those of a streamed answer. `streamed` is false when the caller asked for a whole answer.
  Rendering finish(Headers headers, bool streamed) &&;

 private:
  void flush();
  void apply_truncation();

  Rendering rendering_;
  WriteMode mode_;
  std::uint32_t pace_ = 0;
  std::size_t flushed_ = 0;     // bytes before this are in ops
  std::size_t last_frame_ = 0;  // where the frame that is being written starts
  std::optional<std::size_t> truncate_at_;
};

}  // namespace callgate::script
