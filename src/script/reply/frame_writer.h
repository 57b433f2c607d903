// Writes server-sent-event frames onto a tape, with the faults that framing can have.
#pragma once

#include <string_view>

#include "script/fault.h"
#include "script/tape.h"

namespace callgate::script {

class FrameWriter {
 public:
  // REQUIRES: `faults` outlives the writer.
  explicit FrameWriter(const Faults& faults) : faults_(faults) {}

  void write(std::string_view data, Tape& tape, std::string_view event = {});
  // A whole frame as it is.
  void pass(std::string_view frame, Tape& tape);
  // The last frame of the stream.
  void write_last(std::string_view data, Tape& tape, std::string_view event = {});

 private:
  std::string_view line_end() const;
  void append_data(std::string& out, std::string_view data) const;

  const Faults& faults_;
  bool first_ = true;
};

}  // namespace callgate::script
