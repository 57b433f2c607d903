// Qwen web answers -> events. Text comes in phases, each with its own `finished`; only the answer's ends the turn. What
// built-in tools say in their phases, calls included, is the upstream's own business and no event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/surrogate_joiner.h"
#include "upstream/decoder_base.h"
#include "upstream/qwen_web/qwen_web_frame.h"

namespace callgate::upstream {

class QwenWebDecoder final : public DecoderBase {
 public:
  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;

  // The turn ends as soon as it says so: there is nothing to wait for.
  bool complete() const override { return false; }

 private:
  enum class Phase : std::uint8_t { reasoning, answer, builtin };

  void take_done(ChoiceSinks& sinks);
  void apply(const QwenWebFrame& frame, EventSink& sink);
  void think(std::string_view text, EventSink& sink);
  void answer(std::string_view text, EventSink& sink);
  void say_summary(const QwenWebFrame& frame, EventSink& sink);
  void say_item(std::string_view item, std::size_t index, std::vector<std::string>& said,
                std::string_view separator, EventSink& sink);
  void end(Ending ending, ChoiceSinks& sinks) override;
  void end(FinishReason reason, ChoiceSinks& sinks);

  QwenWebFrameReader reader_;
  Phase phase_ = Phase::answer;
  // What was passed on of the arrays of a summary, which grow from frame to frame.
  std::vector<std::string> titles_;
  std::vector<std::string> thoughts_;
  std::string piece_;
  bool summary_begun_ = false;
  SurrogateJoiner answer_halves_;
  SurrogateJoiner reasoning_halves_;
  std::string joined_;
  std::optional<Usage> usage_;
  bool begun_ = false;  // some of the turn was seen
  bool said_ = false;   // some text of it
};

}  // namespace callgate::upstream
