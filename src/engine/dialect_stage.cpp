#include "engine/dialect_stage.h"

#include <utility>

namespace callgate::engine {

DialectStage::DialectStage(const Dialect& dialect, const DialectOptions& options, Tools tools,
                           std::uint32_t& markup, TurnSummary& summary)
    : dialect_(dialect),
      options_(options),
      tools_(tools),
      automatic_(dialect.name == "auto"),
      markup_(markup),
      summary_(summary),
      parser_(make_parser(options.start)) {}

void DialectStage::TurnExplainer::stayed_text(const StayedText& text) {
  StayedText moved = text;
  if (moved.dialect.empty()) moved.dialect = stage_.dialect_.name;
  moved.begin += stage_.parser_at_;
  moved.end += stage_.parser_at_;
  stage_.options_.explain->stayed_text(moved);
}

std::unique_ptr<DialectParser> DialectStage::make_parser(Channel start) {
  DialectOptions options = options_;
  options.start = start;
  if (options.explain != nullptr) options.explain = &explainer_;
  parser_at_ = parsed_;
  return tools_ == Tools::none ? dialect::make_without_calls(dialect_, options)
                               : dialect_.make(options);
}

void DialectStage::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { parse(e.text, Channel::text, next); },
                 [&](const ReasoningDelta& e) { parse(e.text, Channel::reasoning, next); },
                 [&](const RefusalDelta&) {
                   interrupt(next);
                   next.accept(event);
                 },
                 [&](const CallStarted&) {
                   interrupt(next);
                   summary_.structured_calls = true;
                   if (automatic_) parser_.reset();
                   pass_call(event, next);
                 },
                 [&](const ArgumentsDelta&) { pass_call(event, next); },
                 [&](const CallFinished&) { pass_call(event, next); },
                 [&](const FieldReported&) { pass_call(event, next); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) {
                   if (parser_ != nullptr && !ends_normally(e.reason)) parser_->cut_off();
                   flush(next);
                   next.accept(TurnFinished{settle(e.reason, tally_)});
                 },
             },
             event);
}

void DialectStage::parse(std::string_view text, Channel channel, EventSink& next) {
  if (parser_ == nullptr) {
    if (channel == Channel::text) return next.accept(TextDelta{text});
    return next.accept(ReasoningDelta{text});
  }
  if (std::exchange(spent_, false)) parser_ = make_parser(Channel::text);
  fed_ = true;
  if (options_.explain != nullptr) [[unlikely]]
    parsed_ += text.size();
  ParserSink sink(*this, next, channel == Channel::text);
  joiner_.begin(text);
  parser_->push(text, channel, sink);
  sink.flush();
  if (sink.passed()) {
    held_back_ = 0;
    return;
  }
  held_back_ += text.size();
  ++summary_.held_back_deltas;
  summary_.held_back_bytes += text.size();
}

// The turn is over.
void DialectStage::flush(EventSink& next) {
  if (!std::exchange(fed_, false)) return;
  ParserSink sink(*this, next, false);
  joiner_.begin({});
  parser_->finish(sink);
  sink.flush();
  if (!parser_->settled_on().empty()) summary_.settled_on = parser_->settled_on();
}

// What is held back leaves before anything that does not go through the parser.
void DialectStage::interrupt(EventSink& next) {
  if (!std::exchange(fed_, false)) return;
  ParserSink sink(*this, next, false);
  joiner_.begin({});
  parser_->interrupt(sink);
  sink.flush();
  spent_ = true;
}

void DialectStage::ParserSink::accept(const Event& event) {
  passed_ = true;
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    return join(DeltaJoiner::Kind::text, text->text);
  }
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    if (from_text_ && !std::exchange(stage_.counted_reasoning_, true)) ++stage_.markup_;
    return join(DeltaJoiner::Kind::reasoning, reasoning->text);
  }
  flush();
  if (const auto* started = std::get_if<CallStarted>(&event)) {
    ++stage_.markup_;
    ++stage_.summary_.text_calls;
    return stage_.pass_call(CallStarted{started->call, started->name, started->native_id, true},
                            next_);
  }
  stage_.pass_call(event, next_);
}

void DialectStage::ParserSink::join(DeltaJoiner::Kind kind, std::string_view bytes) {
  if (stage_.joiner_.kind() != kind) flush();
  stage_.joiner_.add(kind, bytes);
}

void DialectStage::ParserSink::flush() {
  switch (stage_.joiner_.kind()) {
    case DeltaJoiner::Kind::none:
      return;
    case DeltaJoiner::Kind::text:
      return next_.accept(TextDelta{stage_.joiner_.take()});
    case DeltaJoiner::Kind::reasoning:
      return next_.accept(ReasoningDelta{stage_.joiner_.take()});
  }
}

// Gives the events of a call its number in the turn.
void DialectStage::pass_call(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const CallStarted& e) {
                   next.accept(CallStarted{next_call_, e.name, e.native_id, e.in_text});
                 },
                 [&](const ArgumentsDelta& e) {
                   next.accept(ArgumentsDelta{next_call_, e.bytes});
                 },
                 [&](const CallFinished& e) {
                   tally_.add(e.outcome);
                   next.accept(CallFinished{next_call_++, e.outcome});
                 },
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const FieldReported& e) {
                   if (e.scope != FieldReported::Scope::call) return next.accept(event);
                   next.accept(FieldReported{e.scope, e.name, e.json, next_call_});
                 },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished&) { next.accept(event); },
             },
             event);
}

}  // namespace callgate::engine
