// What the encoder wrote <-> its frames: server-sent events, lines, or the elements of one array.
#pragma once

#include <cstdint>
#include <string>

#include "script/reply/frame_writer.h"
#include "script/reply/wire_faults.h"
#include "script/tape.h"

namespace callgate::script {

class WireFraming {
 public:
  enum class Kind : std::uint8_t { events, lines, array };
  // REQUIRES: `faults` outlives it.
  WireFraming(Kind kind, const Faults& faults) : kind_(kind), faults_(faults), events_(faults) {}

  // The frames of what was said, which is then empty.
  WireFrames take(std::string& said) const;
  // The same, straight onto the tape. Gives how many. REQUIRES: not an array.
  std::int64_t pass(std::string& said, Tape& tape);
  void put(const WireFrame& frame, Tape& tape, bool last = false);

 private:
  const Kind kind_;
  const Faults& faults_;
  FrameWriter events_;
  std::uint32_t elements_ = 0;
};

}  // namespace callgate::script
