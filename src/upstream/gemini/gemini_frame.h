// One GenerateContentResponse, a frame of a stream or a whole answer, read into plain fields whatever the order of its
// members. What the fields mean is the decoder's to say.
//
//   {"candidates":[{"content":{"parts":[{"functionCall":{"name":"find","args":{"q":"tea"}},"thoughtSignature":"CiQB"}],
//    "role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":20}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/frame_reader.h"

namespace callgate::upstream {

// A piece of one argument: {"jsonPath":"$.city","stringValue":"Zü","willContinue":true}
struct GeminiArgument {
  Text path;
  enum class Kind : std::uint8_t { none, text, json } kind = Kind::none;
  Text value;  // the string, or JSON
  bool will_continue = false;

  void clear();
};

struct GeminiPart {
  enum class Kind : std::uint8_t { text, call, other } kind = Kind::other;
  Text text;
  bool thought = false;
  Text signature;
  Text id;
  Text name;
  Text args;                  // JSON, of a string its content; empty when it is missing or null
  bool args_renamed = false;  // they came under another name
  ReusedList<GeminiArgument> pieces;
  bool will_continue = false;  // more of this call follows
  std::string_view json;       // the whole part, where others are kept

  void clear();
};

struct GeminiCandidate {
  std::int64_t index = 0;
  ReusedList<GeminiPart> parts;
  Text finish;
  Text finish_message;
  std::string_view logprobs;  // JSON of logprobsResult, empty when there is none
  KeptMembers others;

  void clear();
};

// Counts that a frame names; the others stay as an earlier frame said.
struct GeminiUsage {
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t>
      tool_prompt;  // results of tools that the server ran; not among `prompt`
  std::optional<std::int64_t> candidates;  // without thoughts
  std::optional<std::int64_t> thoughts;
  std::optional<std::int64_t> cached;  // among `prompt`
};

struct GeminiFrame {
  ReusedList<GeminiCandidate> candidates;
  bool has_candidates = false;
  Text block_reason;  // of the prompt
  Text block_message;
  GeminiUsage usage;
  std::string_view usage_json;  // where others are kept
  KeptMembers others;
  std::string_view error;  // JSON, empty when there is none

  void clear();
};

class GeminiFrameReader final : public FrameReader<GeminiFrame> {
 private:
  void read_member(std::string_view key) override;
  void read_candidates();
  void read_candidate();
  void read_candidate(GeminiCandidate& candidate);
  void read_content(GeminiCandidate& candidate);
  void read_parts(GeminiCandidate& candidate);
  void read_part(GeminiPart& part);
  void read_call(GeminiPart& part);
  void read_args(GeminiPart& part);
  void read_pieces(GeminiPart& part);
  void read_piece(GeminiArgument& piece);
  void read_feedback();
  void read_usage();
  std::string_view read_object();
};

}  // namespace callgate::upstream
