#include "chat/event_grammar.h"

#include <cstdio>
#include <cstdlib>

#include "base/utf8.h"

namespace callgate {

std::string_view EventGrammar::check(const Event& event) {
  if (finished_) return "nothing may follow TurnFinished";
  const auto delta = [](std::string_view text) -> std::string_view {
    if (text.empty()) return "a delta is never empty";
    if (!utf8::is_valid(text)) return "a delta holds whole UTF-8 sequences";
    return {};
  };
  const auto prose = [&](std::string_view text) -> std::string_view {
    if (call_open_) return "no text while a call is open";
    return delta(text);
  };
  return std::visit(
      Overloaded{
          [&](const TextDelta& e) { return prose(e.text); },
          [&](const ReasoningDelta& e) { return prose(e.text); },
          [&](const RefusalDelta& e) { return prose(e.text); },
          [&](const CallStarted& e) -> std::string_view {
            if (call_open_) return "calls never interleave";
            if (e.call != next_call_) return "call indices count up from 0";
            if (e.name.empty()) return "a call has a name";
            call_open_ = true;
            return {};
          },
          [&](const ArgumentsDelta& e) -> std::string_view {
            if (!call_open_ || e.call != next_call_) return "arguments belong to the open call";
            return delta(e.bytes);
          },
          [&](const CallFinished& e) -> std::string_view {
            if (!call_open_ || e.call != next_call_) return "only the open call can be finished";
            call_open_ = false;
            ++next_call_;
            return {};
          },
          [&](const FieldReported& e) -> std::string_view {
            if (e.scope == FieldReported::Scope::call && (!call_open_ || e.call != next_call_))
              return "a call's field belongs to the open call";
            return e.name.empty() || e.json.empty() ? "a field has a name and a value" : "";
          },
          [](const UsageReported&) -> std::string_view { return {}; },
          [&](const TurnFinished&) -> std::string_view {
            if (call_open_) return "a call must be finished before the turn";
            finished_ = true;
            return {};
          },
      },
      event);
}

std::string_view EventGrammar::check_end() {
  if (!finished_) return "every turn ends with TurnFinished";
  return {};
}

std::string_view EventGrammar::check_calls_closed() {
  return call_open_ ? "a call was left open" : "";
}

void CheckedSink::accept(const Event& event) {
  if (const std::string_view breach = grammar_.check(event); !breach.empty()) {
    std::fprintf(stderr, "callgate: event grammar broken: %.*s\n", static_cast<int>(breach.size()),
                 breach.data());
    std::abort();
  }
  next_.accept(event);
}

}  // namespace callgate
