// A dialect as a stage: text and reasoning go through its parser, structured calls pass beside it. Calls of both kinds
// are numbered in one row, and a turn in which the parser found calls ends with tool_calls. `auto` stops looking at the
// text once a structured call has come.
#pragma once

#include <cstdint>
#include <memory>

#include "callgate/dialect.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "chat/finish_reason.h"
#include "engine/delta_joiner.h"

namespace callgate::engine {

class DialectStage final : public Stage {
 public:
  // Whether the request declares tools; without any, nothing in the text is a call.
  enum class Tools : std::uint8_t { declared, none };

  // `dialect` and what `options` refers to outlive the stage. `markup` counts what was found in the text: each call,
  // and reasoning once; `summary` counts the calls alone, and what is held back.
  DialectStage(const Dialect& dialect, const DialectOptions& options, Tools tools,
               std::uint32_t& markup, TurnSummary& summary);

  void push(const Event& event, EventSink& next) override;

  // About as many bytes of text wait until it is clear what they are.
  std::size_t held_back() const { return held_back_; }

 private:
  // What the parser says goes through here on its way to `next`.
  class ParserSink final : public EventSink {
   public:
    ParserSink(DialectStage& stage, EventSink& next, bool from_text)
        : stage_(stage), next_(next), from_text_(from_text) {}
    void accept(const Event& event) override;
    bool passed() const { return passed_; }
    // The parser is done: what was joined leaves.
    void flush();

   private:
    void join(DeltaJoiner::Kind kind, std::string_view bytes);

    DialectStage& stage_;
    EventSink& next_;
    bool from_text_;
    bool passed_ = false;  // an event left
  };

  // Hands on what the parser says of its own text, with offsets in the turn's.
  class TurnExplainer final : public Explainer {
   public:
    explicit TurnExplainer(DialectStage& stage) : stage_(stage) {}
    void stayed_text(const StayedText& text) override;

   private:
    DialectStage& stage_;
  };

  void parse(std::string_view text, Channel channel, EventSink& next);
  void flush(EventSink& next);
  void interrupt(EventSink& next);
  std::unique_ptr<DialectParser> make_parser(Channel start);
  void pass_call(const Event& event, EventSink& next);

  const Dialect& dialect_;
  DialectOptions options_;
  Tools tools_;
  bool automatic_;
  std::uint32_t& markup_;
  TurnSummary& summary_;
  TurnExplainer explainer_{*this};
  std::uint64_t parsed_ = 0;               // bytes that parsers got; counted for an Explainer only
  std::uint64_t parser_at_ = 0;            // of those before this parser
  std::unique_ptr<DialectParser> parser_;  // nullptr: text is not looked at any more
  bool fed_ = false;                       // the parser may hold something back
  bool spent_ = false;                     // it was interrupted: more text needs another one
  bool counted_reasoning_ = false;
  std::size_t held_back_ = 0;
  CallIndex next_call_ = 0;
  CallTally tally_;
  DeltaJoiner joiner_;
};

}  // namespace callgate::engine
