// One JSON document of a Qwen web answer, read into plain fields: a frame of a stream or a whole body.
//
//   {"choices":[{"delta":{"role":"assistant","content":"","phase":"thinking_summary","status":"typing",
//     "extra":{"summary_title":{"content":["Plan"]},"summary_thought":{"content":["First, look."]}}}}],
//     "usage":{"input_tokens":33,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":4}}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "upstream/frame_reader.h"

namespace callgate::upstream {

struct QwenWebFrame {
  bool spoken = false;  // it has a delta or a message
  bool whole = false;   // ... a message
  Text content;
  Text phase;                 // empty: that of the frame before
  Text status;                // typing, running, finished
  ReusedList<Text> titles;    // of the reasoning so far
  ReusedList<Text> thoughts;  // ...
  std::optional<Usage> usage;
  bool failed = false;  // an error, or `success` is false

  void clear();
};

class QwenWebFrameReader final : public FrameReader<QwenWebFrame> {
 private:
  void read_member(std::string_view key) override { read_member(key, 0); }
  void read_member(std::string_view key, int depth);
  void read_choices();
  void read_delta();
  void read_extra();
  void read_list(ReusedList<Text>& list);
};

}  // namespace callgate::upstream
