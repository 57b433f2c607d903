#include "policy/calls_as_xml.h"

#include "json/reader.h"

namespace callgate::policy {

void CallsAsXml::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted& e) { start(e, next); },
                 [&](const ArgumentsDelta& e) { arguments(e, next); },
                 [&](const CallFinished& e) { finish(e, next); },
                 [&](const FieldReported& e) {
                   if (!only_ || e.scope != FieldReported::Scope::call) next.accept(event);
                 },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) {
                   const bool call_is_text = only_ && e.reason == FinishReason::tool_calls;
                   next.accept(TurnFinished{call_is_text ? FinishReason::stop : e.reason});
                 },
             },
             event);
}

void CallsAsXml::start(const CallStarted& event, EventSink& next) {
  state_ = State::holding_back;
  arguments_.clear();
  block_ = "<use_tool>\n  <name>";
  write_escaped(event.name);
  block_ += "</name>\n";
  if (!only_) next.accept(event);
}

void CallsAsXml::arguments(const ArgumentsDelta& event, EventSink& next) {
  if (!only_) next.accept(event);
  arguments_.append(event.bytes);
  if (state_ == State::holding_back && arguments_.size() > max_held_back_) {
    state_ = State::too_large;
    block_ += "  <arguments>";
  }
  if (state_ != State::too_large) return;
  write_escaped(arguments_);
  arguments_.clear();
  // The text of a call stands after the call: calls do not interleave with anything.
  if (!only_) return;
  next.accept(TextDelta{block_});
  block_.clear();
}

void CallsAsXml::finish(const CallFinished& event, EventSink& next) {
  if (!only_) next.accept(event);
  if (state_ == State::too_large) {
    block_ += "</arguments>\n";
  } else if (const std::size_t mark = block_.size(); !write_members()) {
    block_.resize(mark);
    block_ += "  <arguments>";
    write_escaped(arguments_);
    block_ += "</arguments>\n";
  }
  block_ += "</use_tool>";
  next.accept(TextDelta{block_});
}

// False: the arguments are not an object.
bool CallsAsXml::write_members() {
  json::Reader in(arguments_);
  if (in.peek() != json::Kind::object) return false;
  std::string name;
  for (std::string_view key; in.next_member(key);) {
    name = key;
    block_ += "  <";
    write_escaped(name);
    block_ += ">";
    write_escaped(in.peek() == json::Kind::string ? in.string() : in.raw());
    block_ += "</";
    write_escaped(name);
    block_ += ">\n";
  }
  return in.finish();
}

void CallsAsXml::write_escaped(std::string_view text) {
  for (const char byte : text) {
    switch (byte) {
      case '&':
        block_ += "&amp;";
        break;
      case '<':
        block_ += "&lt;";
        break;
      case '>':
        block_ += "&gt;";
        break;
      default:
        block_ += byte;
    }
  }
}

}  // namespace callgate::policy
