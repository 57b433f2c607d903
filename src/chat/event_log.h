// A sink that keeps events, neighbouring deltas joined: the single fold for whole answers, the store and tests. The fields
// of a call stand before its arguments, wherever between them they came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"
#include "chat/field_fold.h"

namespace callgate {

// An event that owns its bytes. `text` holds the delta, the name of a call, or the JSON of a field or of usage.
struct LoggedEvent {
  enum class Kind : std::uint8_t {
    text,
    reasoning,
    refusal,
    call,
    arguments,
    end,
    field,
    usage,
    finish
  };
  Kind kind = Kind::text;
  std::string text;
  std::string id;  // call: the native id; field: its name
  CallIndex call = 0;
  CallOutcome outcome = CallOutcome::complete;
  FieldReported::Scope scope = FieldReported::Scope::choice;
  Usage usage;
  FinishReason reason = FinishReason::stop;

  bool operator==(const LoggedEvent&) const = default;
};

struct LoggedCall {
  std::string id;
  std::string name;
  std::string arguments;
  CallOutcome outcome = CallOutcome::complete;
  FieldFold fields = {};
};

class EventLog final : public EventSink {
 public:
  void accept(const Event& event) override;
  void clear();

  const std::vector<LoggedEvent>& events() const { return events_; }
  std::string text() const;
  std::string reasoning() const;
  std::string refusal() const;
  // The texts of that kind, joined in `scratch` where there are several.
  std::string_view joined(LoggedEvent::Kind kind, std::string& scratch) const;
  std::vector<LoggedCall> calls() const;
  std::optional<Usage> usage() const;
  std::optional<FinishReason> reason() const;

 private:
  LoggedEvent& add(LoggedEvent event);

  std::vector<LoggedEvent> events_;
};

// The event once more. Whether a call was found in the text is not kept.
void tell(const LoggedEvent& event, EventSink& sink);

std::string_view to_string(CallOutcome outcome);
std::string_view to_string(FinishReason reason);

// The text form that golden files use, a line per event:
//   text "Let me look.\n"     call 0 find id=abc      args 0 {"q":1}      end 0 complete      finish tool_calls
//   field service_tier "flex" field 0 extra_content {} of call 0
// Text, reasoning and refusal are JSON strings; arguments are verbatim when they are one line of printable text, else
// a JSON string.
std::string print(const std::vector<LoggedEvent>& events);

}  // namespace callgate
