// Messages answers -> events. Blocks become prose and calls in their order; blocks of tools that the server runs itself
// (server_tool_use, *_tool_result) and unknown ones do not concern the client and are ignored.
//
// A thinking block that is signed, or redacted, is also reported as a whole in `reasoning_details`, so that the client
// can send it back. TurnFinished leaves with message_stop or with the connection: usage comes before that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/anthropic_messages/anthropic_frame.h"
#include "upstream/anthropic_messages/anthropic_frames.h"
#include "upstream/anthropic_messages/anthropic_thinking.h"
#include "upstream/call_tracker.h"
#include "upstream/decoder_base.h"

namespace callgate::upstream {

class AnthropicDecoder final : public DecoderBase {
 public:
  // `tells_frames`: the client speaks the same and gets what has no event; see chat/messages_frame.h.
  // REQUIRES: `tools`, the declared ones, outlive the decoder.
  explicit AnthropicDecoder(std::span<const ToolSpec> tools = {}, bool tells_frames = false)
      : tells_frames_(tells_frames) {
    tracker_.expect_disorder(tools);
  }

  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;

  bool complete() const override { return stop_seen_ && !error_; }
  std::string dropped() const override {
    return tells_frames_ ? std::string() : reader_.dropped().print();
  }

 private:
  struct Block {
    enum class Kind : std::uint8_t { unknown, text, thinking, call, ignored };
    Kind kind = Kind::unknown;
  };

  void lose_chunk(std::string_view rest) override;
  void apply(std::string_view type, std::string_view data, const AnthropicFrame& frame,
             EventSink& sink);
  static Block::Kind kind_of(std::string_view type);
  std::size_t position_of(const AnthropicFrame& frame, bool starts);
  Block& block_at(std::size_t position);
  void start_block(const AnthropicFrame& frame, EventSink& sink);
  void continue_block(const AnthropicFrame& frame, EventSink& sink);
  void stop_block(const AnthropicFrame& frame, EventSink& sink);
  void apply_whole(const AnthropicFrame& frame, EventSink& sink);
  void apply_end(const AnthropicFrame& frame, EventSink& sink);
  void apply_usage(const AnthropicUsage& usage, bool last, EventSink& sink);
  // The frame, or what of it callgate does not know, for a client that speaks the same. Before and after its events.
  void tell_before(std::string_view type, std::string_view data, const AnthropicFrame& frame,
                   EventSink& sink);
  bool goes_as_it_is(std::string_view type, std::string_view data, const AnthropicFrame& frame);
  void tell_after(std::string_view type, std::string_view data, const AnthropicFrame& frame,
                  EventSink& sink);
  Block::Kind kind_at(const AnthropicFrame& frame);

  void think(std::size_t position, const AnthropicBlock& block, EventSink& sink);
  void continue_call(std::size_t position, std::string_view json, const AnthropicDelta& delta,
                     EventSink& sink);
  void push_input(std::size_t position, std::string_view json, bool object, EventSink& sink);
  void push_early_input(EventSink& sink);
  void fill_empty_call(EventSink& sink);

  void end(Ending ending, ChoiceSinks& sinks) override { end(ending, sinks.choice(0)); }
  void end(Ending ending, EventSink& sink);

  AnthropicFrameReader reader_;
  CallTracker tracker_;
  CallPiece piece_;
  std::vector<Block> blocks_;  // by index
  std::size_t newest_ = 0;     // the block that started last
  SignedThinking thinking_;
  std::optional<std::size_t>
      empty_call_;  // stopped without input: {} unless the turn was cut there
  std::optional<std::size_t> early_call_;  // its input came with its start
  std::string early_input_;
  AnthropicUsage counts_;
  bool output_stated_ = false;  // and not only begun
  std::optional<Usage> usage_;
  std::optional<FinishReason> said_;  // known words only
  bool stop_seen_ = false;
  const bool tells_frames_;
  AnthropicFrames frames_;
  std::string_view usage_json_;  // of the frame that is being applied
  bool seen_ = false;            // something of the content
};

}  // namespace callgate::upstream
