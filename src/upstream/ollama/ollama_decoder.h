// Answers of /api/chat -> events. Calls come whole, one or several to a line, with ids (since 0.12.10) or without: those
// are left empty. `stop` is said for turns with calls as well. The turn ends with the stream: what follows a line that is done
// still counts, for there are servers that say so on every line.
//
// A server that does not stream may spread its answer over several lines: they are read as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "json/scanner.h"
#include "upstream/call_tracker.h"
#include "upstream/decoder_base.h"
#include "upstream/ollama/ollama_line.h"

namespace callgate::upstream {

class OllamaDecoder final : public DecoderBase {
 public:
  // REQUIRES: `tools`, the declared ones, outlive the decoder.
  explicit OllamaDecoder(std::span<const ToolSpec> tools = {}) { tracker_.expect_disorder(tools); }

  // For a client that speaks this format: members that callgate does not know become fields.
  void keep_others() { reader_.keep_others(); }

  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;
  void finish(ChoiceSinks& sinks) override;

  bool complete() const override { return done_ && !error_; }
  std::string dropped() const override { return reader_.dropped().print(); }

 private:
  void push_line(std::string_view line, EventSink& sink);
  void take_unread(std::string_view line);
  void lose_chunk(std::string_view line) override;
  void continue_document(std::string_view line, EventSink& sink);
  void apply(const OllamaLine& line, EventSink& sink);
  void apply_end(const OllamaLine& line, EventSink& sink);
  void apply_usage(const OllamaLine& line, EventSink& sink);
  void end(Ending ending, ChoiceSinks& sinks) override { end(ending, sinks.choice(0)); }
  void end(Ending ending, EventSink& sink);

  OllamaLineReader reader_;
  CallTracker tracker_;
  std::string document_;  // the lines so far of one that has several
  json::Scanner scanner_;
  std::optional<FinishReason> said_;  // known words only
  bool done_ = false;
  bool seen_ = false;  // something of the answer
};

}  // namespace callgate::upstream
