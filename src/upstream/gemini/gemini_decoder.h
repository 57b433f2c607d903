// GenerateContent answers -> events. Parts become prose and calls in their order; parts of tools that the server runs
// itself (executableCode, codeExecutionResult) and media (inlineData) have no place in a chat and are ignored.
//
// A thoughtSignature is reported in `reasoning_details`, so that the client can send it back with its part. A stream has
// no end marker: TurnFinished leaves when the connection closes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/call_tracker.h"
#include "upstream/decoder_base.h"
#include "upstream/gemini/gemini_arguments.h"
#include "upstream/gemini/gemini_frame.h"
#include "upstream/tool_names.h"

namespace callgate::upstream {

class GeminiDecoder final : public DecoderBase {
 public:
  // REQUIRES: `tools`, the declared ones, outlive the decoder.
  explicit GeminiDecoder(std::span<const ToolSpec> tools = {}) : tools_(tools), names_(tools) {}

  // For a client that speaks this format: members that callgate does not know become fields, and parts that it does not know
  // elements of the message's `parts`.
  void keep_others() { reader_.keep_others(); }

  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;

  bool complete() const override;
  std::string dropped() const override { return reader_.dropped().print(); }

 private:
  struct Choice {
    CallTracker tracker;
    GeminiArguments arguments;  // of a call that comes in pieces
    bool call_open = false;     // more pieces of it are expected
    bool call_named = false;    // its name has left
    std::string open_id;
    std::string open_name;
    std::int64_t calls = 0;
    bool seen = false;
    bool spoken = false;  // it had a part
    bool finish_seen = false;
    std::optional<FinishReason> said;  // known words only
  };

  void begin(ChoiceSinks& sinks);
  void lose_chunk(std::string_view rest) override;
  void push_elements(std::string_view array, ChoiceSinks& sinks);
  void apply(const GeminiFrame& frame, ChoiceSinks& sinks);
  void apply_candidate(const GeminiCandidate& candidate, Choice& choice, EventSink& sink);
  void apply_part(const GeminiPart& part, Choice& choice, EventSink& sink);
  void apply_call(const GeminiPart& part, Choice& choice, EventSink& sink);
  bool join_name(const GeminiPart& part, Choice& choice);
  void start_call(const GeminiPart& part, Choice& choice, EventSink& sink);
  void push_whole(const GeminiPart& part, Choice& choice, EventSink& sink);
  void name_call(Choice& choice, EventSink& sink);
  void continue_call(const GeminiPart& part, Choice& choice, EventSink& sink);
  void push_arguments(Choice& choice, EventSink& sink);
  void close_call(Choice& choice, EventSink& sink);
  void apply_finish(const GeminiCandidate& candidate, Choice& choice, EventSink& sink);
  void apply_block(const GeminiFrame& frame, Choice& choice, EventSink& sink);
  void apply_usage(const GeminiFrame& frame, EventSink& sink);
  void report_members(const GeminiPart& part, EventSink& sink);
  void report_signature(const GeminiPart& part, std::optional<std::int64_t> call, EventSink& sink);

  std::optional<std::uint32_t> position_of(std::int64_t index, std::uint32_t count);
  void end(Ending ending, ChoiceSinks& sinks) override;

  GeminiFrameReader reader_;
  CallPiece piece_;
  std::string fragment_;
  std::string detail_;
  std::vector<Choice> choices_;
  std::optional<std::int64_t> only_choice_;  // the index that the only choice asked for goes by
  GeminiUsage counts_;
  std::optional<Usage> usage_;
  std::span<const ToolSpec> tools_;
  ToolNames names_;
};

}  // namespace callgate::upstream
