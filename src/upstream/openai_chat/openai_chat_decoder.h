// Chat Completions answers -> events. Knows what the fields of an Answer mean; the order of calls is CallTracker's.
//
// Usage may come after the finish reason, and nothing may follow TurnFinished: so each choice's TurnFinished leaves
// when the answer ends, with [DONE] or with the connection. Until then what a choice says after its finish reason counts, for
// there are servers that give one with every chunk, after every call or before the last of the arguments.
//
// A frame that begins like a chunk and cannot be read is lost data and ends the turn with an error. Frames of other words
// are skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/call_tracker.h"
#include "upstream/decoder_base.h"
#include "upstream/openai_chat/openai_answer.h"
#include "upstream/openai_chat/openai_others.h"

namespace callgate::upstream {

class OpenaiChatDecoder final : public DecoderBase {
 public:
  // REQUIRES: `tools`, the declared ones, outlive the decoder.
  explicit OpenaiChatDecoder(std::span<const ToolSpec> tools = {}) : tools_(tools) {}

  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;

  bool complete() const override;

 private:
  struct Choice {
    CallTracker tracker;
    bool seen = false;
    bool spoke = false;                // it said something, or a word for its end
    bool spoke_since = false;          // since that word
    std::optional<FinishReason> said;  // the word for its end, known ones only
    bool streamed = false;             // it sent `delta`: a later `message` only repeats it
  };

  void push_values(std::string_view data, ChoiceSinks& sinks);
  std::size_t push_value(std::string_view data, ChoiceSinks& sinks);
  void push_odd_body(std::string_view body, ChoiceSinks& sinks);
  void lose_chunk(std::string_view chunk) override;
  void begin(ChoiceSinks& sinks);
  void apply(const Answer& answer, ChoiceSinks& sinks, bool whole);
  void apply_words(const Text& words, ChoiceSinks& sinks);
  void apply_turn_fields(const Answer& answer, EventSink& sink);
  void apply_choice(const ChoicePiece& piece, Choice& choice, EventSink& sink, bool whole);
  void apply_message(const ChoicePiece& piece, Choice& choice, EventSink& sink, bool whole);
  void apply_finish(std::string_view word, Choice& choice, EventSink& sink);
  std::optional<std::uint32_t> position_of(std::int64_t index, std::uint32_t count);
  void end(Ending ending, ChoiceSinks& sinks) override;
  bool is_empty() const;

  std::span<const ToolSpec> tools_;
  AnswerReader reader_;
  std::vector<Choice> choices_;
  std::optional<std::int64_t> only_choice_;  // the index that the only choice asked for goes by
  std::optional<Usage> usage_;
  std::string usage_json_;
  TurnMembers turn_members_;
  std::string service_tier_;
  std::string system_fingerprint_;
};

}  // namespace callgate::upstream
