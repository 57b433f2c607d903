#include "dialect/turn_gate.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "dialect/explain.h"
#include "dialect/family/call_object.h"

namespace callgate::dialect {

// In slices no longer than what may be kept, so that the limit does not depend on how the turn is cut.
void TurnGate::push(std::string_view text, Channel channel, EventSink& sink) {
  sink_ = &sink;
  while (!text.empty()) {
    if (calls_.empty()) mark_passed(passed_);
    const std::size_t kept = std::min(bytes_.size(), max_held_back_);
    const std::string_view slice = text.substr(0, max_held_back_ + 1 - kept);
    text.remove_prefix(slice.size());
    bytes_.append(slice);
    parser_->push(slice, channel, *this);
    if (!calls_.empty() && bytes_.size() > max_held_back_) settle();
  }
}

void TurnGate::finish(EventSink& sink) {
  sink_ = &sink;
  parser_->finish(*this);
  settle();
}

// What is kept leaves, as calls or as text.
void TurnGate::settle() {
  if (refused_) {
    quote(position());
  } else {
    commit();
  }
}

void TurnGate::accept(const Event& event) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) {
                   pass_prose(event);
                   follow(e.text, Channel::text);
                 },
                 [&](const ReasoningDelta& e) {
                   pass_prose(event);
                   follow(e.text, Channel::reasoning);
                 },
                 [&](const RefusalDelta&) { pass_prose(event); },
                 [&](const CallStarted& e) { start(e); },
                 [&](const ArgumentsDelta& e) { add(e); },
                 [&](const CallFinished& e) { finish_call(e); },
                 [&](const FieldReported&) { sink_->accept(event); },
                 [&](const UsageReported&) { sink_->accept(event); },
                 [&](const TurnFinished&) { sink_->accept(event); },
             },
             event);
}

void TurnGate::start(const CallStarted& event) {
  if (calls_.empty()) {
    const auto begin = static_cast<std::size_t>(parser_->audit().call_begin);
    const std::size_t gap = begin > passed_ ? begin - passed_ : 0;
    obstacle_ = obstacle(std::string_view(bytes_).substr(passed_ - start_, gap));
    mark_passed(begin);
    explained_ = false;
    refused_name_.clear();
  }
  call_open_ = true;
  calls_.start(event);
  const bool unknown = !may_be_called(tools_, event.name);
  if (unknown && explain_ != nullptr && refused_name_.empty()) refused_name_ = event.name;
  refused_ = refused_ || allowed_ == Calls::none || unknown || !obstacle_.empty();
}

// Why no call may begin here; empty: it may. `gap` stands between the prose and the call: white space, or structure, and
// then the prose is over.
std::string_view TurnGate::obstacle(std::string_view gap) {
  if (is_blank(gap)) {
    context_.push(gap);
  } else {
    context_.reset();
  }
  if (context_.quoted()) return context_.place();
  if (allowed_ != Calls::on_lines) return {};
  return context_.line_start() ? std::string_view{} : kNotAtLineStart;
}

void TurnGate::follow(std::string_view text, Channel channel) {
  if (allowed_ == Calls::none) return;
  if (channel != channel_) context_.reset();
  channel_ = channel;
  context_.push(text);
}

void TurnGate::add(const ArgumentsDelta& event) {
  if (live_) {
    sink_->accept(ArgumentsDelta{next_, event.bytes});
  } else if (!refused_) {
    calls_.add(event);
  }
}

void TurnGate::finish_call(const CallFinished& event) {
  call_open_ = false;
  if (!std::exchange(live_, false)) return calls_.finish(event);
  sink_->accept(CallFinished{next_++, event.outcome});
  passed_ = position();
  at_passed_ = parser_->audit();
}

void TurnGate::pass_prose(const Event& event) {
  if (!calls_.empty()) quote(structure_end());
  refused_ = false;
  sink_->accept(event);
  passed_ = position();
  at_passed_ = parser_->audit();
}

// Where the prose begins that is about to leave: behind all that is not prose.
std::size_t TurnGate::structure_end() const {
  const Audit& now = parser_->audit();
  const std::uint64_t prose = now.text - at_passed_.text + now.reasoning - at_passed_.reasoning;
  return position() - static_cast<std::size_t>(prose);
}

void TurnGate::mark_passed(std::size_t position) {
  bytes_.erase(0, position - start_);
  start_ = position;
}

void TurnGate::explain() {
  if (calls_.empty() || std::exchange(explained_, true)) return;
  std::string reason(obstacle_.empty() ? "prose follows the call" : obstacle_);
  if (allowed_ == Calls::none) reason = kNoCalls;
  if (allowed_ != Calls::none && !refused_name_.empty()) reason = undeclared(refused_name_);
  explain_->stayed_text({.begin = start_, .end = start_, .reason = reason});
}

// The bytes of the calls, and the markers around them, leave as text.
void TurnGate::quote(std::size_t end) {
  if (explain_ != nullptr) explain();
  const std::size_t size = end - start_;
  std::string text;
  utf8::append_sanitized(text, std::string_view(bytes_).substr(0, size));
  if (!text.empty()) sink_->accept(TextDelta{text});
  follow(text, Channel::text);
  const Audit& now = parser_->audit();
  const std::uint64_t arguments = now.arguments - at_passed_.arguments;
  quoted_.text += size;
  quoted_.arguments += arguments;
  quoted_.marker += size - arguments;
  passed_ = end;
  at_passed_ = now;
  mark_passed(end);
  if (!call_open_) calls_.clear();
}

void TurnGate::commit() {
  if (calls_.empty()) return;
  next_ = calls_.release(next_, *sink_);
  live_ = call_open_;
  passed_ = position();
  at_passed_ = parser_->audit();
}

std::size_t TurnGate::held_size() const {
  return calls_.empty() ? parser_->held_size() : bytes_.size();
}

const Audit& TurnGate::audit() const {
  audit_ = parser_->audit();
  audit_.text += quoted_.text;
  audit_.arguments -= quoted_.arguments;
  audit_.marker -= quoted_.marker;
  return audit_;
}

}  // namespace callgate::dialect
