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
#include "json/reader.h"
#include "upstream/openai_answer.h"
#include "upstream/repaired_read.h"

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

class QwenWebFrameReader {
 public:
  // False: not a JSON object; the frame is then empty. What can be mended is, and is read again.
  // REQUIRES: `document` lives as long as frame() is used.
  bool read(std::string_view document);
  const QwenWebFrame& frame() const { return frame_; }
  // What was mended in the last document.
  const Mended& mended() const { return mended_; }

 private:
  bool read_document();
  void read_members(int depth);
  void read_choices();
  void read_delta();
  void read_extra();
  void read_list(ReusedList<Text>& list);
  void read_usage();
  void read_details(Usage& usage);
  std::int64_t read_count(std::int64_t otherwise);

  json::Reader in_;
  std::string_view document_;
  std::string sanitized_;
  Mended mended_;
  QwenWebFrame frame_;
};

}  // namespace callgate::upstream
