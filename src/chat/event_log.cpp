#include "chat/event_log.h"

#include <algorithm>
#include <utility>

#include "json/writer.h"

namespace callgate {
namespace {

using Kind = LoggedEvent::Kind;

bool is_one_printable_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

void print_event(std::string& out, const LoggedEvent& event) {
  const auto text_line = [&](std::string_view word) {
    out.append(word).push_back(' ');
    json::append_string(out, event.text);
  };
  const auto call_line = [&](std::string_view word) {
    out.append(word).push_back(' ');
    json::append_integer(out, event.call);
    out.push_back(' ');
  };
  switch (event.kind) {
    case Kind::text:
      text_line("text");
      break;
    case Kind::reasoning:
      text_line("reasoning");
      break;
    case Kind::refusal:
      text_line("refusal");
      break;
    case Kind::call:
      call_line("call");
      out += event.text;
      if (!event.id.empty()) out.append(" id=").append(event.id);
      break;
    case Kind::arguments:
      call_line("args");
      if (is_one_printable_line(event.text)) {
        out += event.text;
      } else {
        json::append_string(out, event.text);
      }
      break;
    case Kind::end:
      call_line("end");
      out += to_string(event.outcome);
      break;
    case Kind::field:
      if (event.scope == FieldReported::Scope::call) {
        call_line("field");
      } else {
        out.append("field ");
      }
      out.append(event.id).append(" ").append(event.text);
      break;
    case Kind::usage:
      out += "usage prompt=";
      json::append_integer(out, event.usage.prompt_tokens);
      out += " completion=";
      json::append_integer(out, event.usage.completion_tokens);
      out += " total=";
      json::append_integer(out, event.usage.total_tokens);
      if (event.usage.cached_tokens != 0) {
        out += " cached=";
        json::append_integer(out, event.usage.cached_tokens);
      }
      if (event.usage.reasoning_tokens != 0) {
        out += " reasoning=";
        json::append_integer(out, event.usage.reasoning_tokens);
      }
      break;
    case Kind::finish:
      out.append("finish ").append(to_string(event.reason));
      break;
  }
  out.push_back('\n');
}

}  // namespace

// Most answers are a text, its usage and its end.
LoggedEvent& EventLog::add(LoggedEvent event) {
  if (events_.capacity() == 0) events_.reserve(4);
  return events_.emplace_back(std::move(event));
}

void EventLog::accept(const Event& event) {
  const auto joins = [&](Kind kind, CallIndex call = 0) {
    return !events_.empty() && events_.back().kind == kind && events_.back().call == call;
  };
  const auto add_text = [&](Kind kind, std::string_view text, CallIndex call = 0) {
    if (joins(kind, call)) {
      events_.back().text += text;
    } else {
      constexpr std::size_t kHeldBack = 64;  // most often one more piece follows: the end
      std::string& kept = add({.kind = kind, .call = call}).text;
      if (text.size() > kHeldBack) kept.reserve(text.size() + kHeldBack);
      kept = text;
    }
  };
  std::visit(Overloaded{
                 [&](const TextDelta& e) { add_text(Kind::text, e.text); },
                 [&](const ReasoningDelta& e) { add_text(Kind::reasoning, e.text); },
                 [&](const RefusalDelta& e) { add_text(Kind::refusal, e.text); },
                 [&](const CallStarted& e) {
                   add({.kind = Kind::call,
                        .text = std::string(e.name),
                        .id = std::string(e.native_id),
                        .call = e.call});
                 },
                 [&](const ArgumentsDelta& e) { add_text(Kind::arguments, e.bytes, e.call); },
                 [&](const CallFinished& e) {
                   add({.kind = Kind::end, .call = e.call, .outcome = e.outcome});
                 },
                 [&](const FieldReported& e) {
                   const bool of_call = e.scope == FieldReported::Scope::call;
                   const bool before = of_call && joins(Kind::arguments, e.call);
                   events_.insert(before ? events_.end() - 1 : events_.end(),
                                  {.kind = Kind::field,
                                   .text = std::string(e.json),
                                   .id = std::string(e.name),
                                   .call = e.call,
                                   .scope = e.scope});
                 },
                 [&](const UsageReported& e) {
                   add({.kind = Kind::usage, .text = std::string(e.json), .usage = e.usage});
                 },
                 [&](const TurnFinished& e) { add({.kind = Kind::finish, .reason = e.reason}); },
             },
             event);
}

void EventLog::clear() { events_.clear(); }

std::string EventLog::text() const {
  std::string scratch;
  return std::string(joined(Kind::text, scratch));
}

std::string EventLog::reasoning() const {
  std::string scratch;
  return std::string(joined(Kind::reasoning, scratch));
}

std::string EventLog::refusal() const {
  std::string scratch;
  return std::string(joined(Kind::refusal, scratch));
}

std::string_view EventLog::joined(Kind kind, std::string& scratch) const {
  const LoggedEvent* only = nullptr;
  for (const LoggedEvent& event : events_) {
    if (event.kind != kind) continue;
    if (only == nullptr) {
      only = &event;
      continue;
    }
    if (scratch.empty()) scratch = only->text;
    scratch += event.text;
  }
  if (only == nullptr) return {};
  return scratch.empty() ? std::string_view(only->text) : std::string_view(scratch);
}

std::vector<LoggedCall> EventLog::calls() const {
  std::vector<LoggedCall> calls;
  for (const LoggedEvent& event : events_) {
    if (event.kind == Kind::call) calls.push_back({.id = event.id, .name = event.text});
    if (event.kind == Kind::field && event.scope == FieldReported::Scope::call) {
      calls.back().fields.add(event.scope, event.id, event.text);
    }
    if (event.kind == Kind::arguments) calls.back().arguments += event.text;
    if (event.kind == Kind::end) calls.back().outcome = event.outcome;
  }
  return calls;
}

std::optional<Usage> EventLog::usage() const {
  for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
    if (event->kind == Kind::usage) return event->usage;
  }
  return std::nullopt;
}

std::optional<FinishReason> EventLog::reason() const {
  for (const LoggedEvent& event : events_) {
    if (event.kind == Kind::finish) return event.reason;
  }
  return std::nullopt;
}

std::string_view to_string(CallOutcome outcome) {
  switch (outcome) {
    case CallOutcome::complete:
      return "complete";
    case CallOutcome::truncated:
      return "truncated";
    case CallOutcome::malformed:
      return "malformed";
  }
  return {};
}

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::tool_calls:
      return "tool_calls";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::upstream_error:
      return "upstream_error";
  }
  return {};
}

std::string print(const std::vector<LoggedEvent>& events) {
  std::string out;
  for (const LoggedEvent& event : events) print_event(out, event);
  return out;
}

void tell(const LoggedEvent& event, EventSink& sink) {
  switch (event.kind) {
    case LoggedEvent::Kind::text:
      return sink.accept(TextDelta{event.text});
    case LoggedEvent::Kind::reasoning:
      return sink.accept(ReasoningDelta{event.text});
    case LoggedEvent::Kind::refusal:
      return sink.accept(RefusalDelta{event.text});
    case LoggedEvent::Kind::call:
      return sink.accept(CallStarted{event.call, event.text, event.id});
    case LoggedEvent::Kind::arguments:
      return sink.accept(ArgumentsDelta{event.call, event.text});
    case LoggedEvent::Kind::end:
      return sink.accept(CallFinished{event.call, event.outcome});
    case LoggedEvent::Kind::field:
      return sink.accept(FieldReported{event.scope, event.id, event.text, event.call});
    case LoggedEvent::Kind::usage:
      return sink.accept(UsageReported{event.usage, event.text});
    case LoggedEvent::Kind::finish:
      return sink.accept(TurnFinished{event.reason});
  }
}

}  // namespace callgate
