// One line of an answer of /api/chat, or a whole answer, read into plain fields.
//
//   {"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1",
//     "function":{"index":0,"name":"find","arguments":{"q":"tea"}}}]},"done":true,"done_reason":"stop",
//     "prompt_eval_count":26,"eval_count":12}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/frame_reader.h"

namespace callgate::upstream {

struct OllamaLine {
  bool has_message = false;
  Text content;
  Text thinking;
  ReusedList<CallPiece> calls;  // arguments are compact JSON
  bool done = false;
  Text done_reason;
  std::optional<std::int64_t> prompt_count;
  std::optional<std::int64_t> count;
  std::string logprobs;    // as Chat Completions has them, empty when there are none
  std::string_view error;  // JSON, empty when there is none
  KeptMembers others;
  KeptMembers message_others;

  void clear();
};

class OllamaLineReader final : public FrameReader<OllamaLine> {
 private:
  void read_member(std::string_view key) override;
  void read_message();
  void read_calls();
  void read_call(CallPiece& call);
  void read_call_member(std::string_view key, CallPiece& call);
  void read_arguments(CallPiece& call);
  void read_logprobs();

  std::string compact_;
};

}  // namespace callgate::upstream
