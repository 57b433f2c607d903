// One JSON document of a Messages answer, a frame of a stream or a whole message, read into plain fields whatever the
// order of its members. What the fields mean is the decoder's to say.
//
//   {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"find","input":{}}}
//   {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\": \"te"}}
//   {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":40}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/frame_reader.h"

namespace callgate::upstream {

// A content block as it starts, or whole.
struct AnthropicBlock {
  Text type;
  Text text;
  Text thinking;
  Text signature;
  Text data;  // redacted_thinking
  Text id;
  Text name;
  Text input;                  // JSON; of a string its content
  bool input_given = false;    // it is more than {}
  bool input_renamed = false;  // it came under another name

  void clear();
};

struct AnthropicDelta {
  Text plain;  // the delta is nothing but this text
  Text name;   // of a call
  Text text;
  Text thinking;
  Text signature;
  Text partial_json;
  bool object = false;  // partial_json came as a JSON value instead of a string

  void clear();
};

// Counts that a frame names; the others stay as an earlier frame said.
struct AnthropicUsage {
  std::optional<std::int64_t> input;  // without what was read from or written to the cache
  std::optional<std::int64_t> cache_read;
  std::optional<std::int64_t> cache_creation;
  std::optional<std::int64_t> output;
  std::optional<std::int64_t> thinking;

  void clear() { *this = {}; }
};

struct AnthropicFrame {
  Text type;
  std::optional<std::int64_t> index;
  AnthropicBlock block;
  AnthropicDelta delta;
  ReusedList<AnthropicBlock> content;  // of a whole message
  bool has_content = false;
  Text stop_reason;
  Text explanation;  // of a refusal
  AnthropicUsage usage;
  std::string_view error;  // JSON, empty when there is none
  bool strange = false;    // it, its block or its delta has members that callgate does not know
  Text stop_sequence;      // that matched

  void clear();
};

class AnthropicFrameReader final : public FrameReader<AnthropicFrame> {
 private:
  void read_member(std::string_view key) override;
  void read_message();
  void read_delta();
  void read_block(AnthropicBlock& block);
  void read_content();
  void read_bare_text(AnthropicBlock& block);
  void read_input(AnthropicBlock& block);
  void read_partial_json();
  void read_stop_details();
  void read_usage();
};

}  // namespace callgate::upstream
