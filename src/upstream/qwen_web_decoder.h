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
#include "upstream/qwen_web_frame.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

class QwenWebDecoder final : public ResponseDecoder {
 public:
  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;
  void finish(ChoiceSinks& sinks) override;
  void abort(ChoiceSinks& sinks) override;

  bool finished() const override { return finished_; }
  // The turn ends as soon as it says so: there is nothing to wait for.
  bool complete() const override { return false; }
  const std::optional<Error>& error() const override { return error_; }
  const RepairCounts& repairs() const override { return repairs_; }

 private:
  enum class Phase : std::uint8_t { reasoning, answer, builtin };

  void push_unread(const SseFrame& frame, std::string_view data, ChoiceSinks& sinks);
  void take_done(ChoiceSinks& sinks);
  void apply(const QwenWebFrame& frame, EventSink& sink);
  void think(std::string_view text, EventSink& sink);
  void answer(std::string_view text, EventSink& sink);
  void say_summary(const QwenWebFrame& frame, EventSink& sink);
  void say_item(std::string_view item, std::size_t index, std::vector<std::string>& said,
                std::string_view separator, EventSink& sink);
  void end(FinishReason reason, ChoiceSinks& sinks);
  void fail_with(Error error);
  void count(Repair repair, std::size_t times = 1) {
    repairs_[static_cast<std::size_t>(repair)] += static_cast<std::uint32_t>(times);
  }

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
  std::optional<Error> error_;
  RepairCounts repairs_{};
  bool begun_ = false;  // some of the turn was seen
  bool said_ = false;   // some text of it
  bool finished_ = false;
  bool ended_ = false;
};

}  // namespace callgate::upstream
