// The event vocabulary: one ordered fact of an assistant turn at a time.
//
//   "Let me look."  <tool_call>{"name": "find", "arguments": {"q": "tea"}}</tool_call>
//
//   TextDelta "Let me look."   CallStarted 0 find   ArgumentsDelta 0 {"q": "tea"}
//   CallFinished 0 complete    TurnFinished tool_calls
//
// Grammar (executable in src/chat/event_grammar.h): deltas are never empty; a call is started once, then gets
// its deltas, then is finished once; calls never interleave; call indices count up from 0; every turn ends with
// exactly one TurnFinished and nothing follows it.
//
// Events are small values made of views into somebody else's buffer. Every view is valid during accept() only: copy what
// you keep, or let an EventLog (src/chat/event_log.h) do so.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace callgate {

using CallIndex = std::uint32_t;  // from 0, in the order the model wrote the calls

enum class CallOutcome : std::uint8_t { complete, truncated, malformed };
enum class FinishReason : std::uint8_t { stop, tool_calls, length, content_filter, upstream_error };

// Token counts in OpenAI's sense: prompt_tokens includes cached ones, completion_tokens includes reasoning.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::int64_t total_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t cache_write_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  // False if the upstream did not state that count. It is then 0 or what is known so far, and a client gets an estimate.
  bool prompt_stated = true;
  bool completion_stated = true;

  bool operator==(const Usage&) const = default;
};

struct TextDelta {
  std::string_view text;  // whole UTF-8 sequences
};
struct ReasoningDelta {
  std::string_view text;
};
struct RefusalDelta {
  std::string_view text;
};
struct CallStarted {
  CallIndex call = 0;
  std::string_view name;
  std::string_view native_id;  // the model's or upstream's own id, empty when it gave none
  bool in_text = false;        // the model wrote it as text, and a dialect found it there
};
struct ArgumentsDelta {
  CallIndex call = 0;
  std::string_view bytes;  // a true fragment: whole UTF-8 sequences, never cut inside an escape
};
struct CallFinished {
  CallIndex call = 0;
  CallOutcome outcome = CallOutcome::complete;
};
// A field of the upstream's answer that has no event of its own but a place in the client's schema, as JSON:
// `logprobs` of a choice, `service_tier` and `system_fingerprint` of the turn, `reasoning_details` of the message,
// `extra_content` of a call, and whatever else callgate does not know. src/chat/field_fold.h says what several reports of
// one field mean together.
struct FieldReported {
  enum class Scope : std::uint8_t { choice, turn, message, call };
  Scope scope = Scope::choice;
  std::string_view name;
  std::string_view json;
  CallIndex call = 0;  // Scope::call: the open one
};
struct UsageReported {
  Usage usage;  // the totals so far; the last one counts
  // The upstream's `usage` object where it speaks the client's schema, with members that Usage does not know; else empty.
  std::string_view json;
};
struct TurnFinished {
  FinishReason reason = FinishReason::stop;
};

using Event = std::variant<TextDelta, ReasoningDelta, RefusalDelta, CallStarted, ArgumentsDelta,
                           CallFinished, FieldReported, UsageReported, TurnFinished>;

// Receives the events of one turn, in order, on the thread of the caller. An implementation must neither throw nor call
// back into the object that is sending.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void accept(const Event& event) = 0;
};

// Events in, events out. A policy is a stage that enforces a rule. A stage belongs to one choice of one turn and may keep
// state. It passes to `next` as it is what it neither changes nor holds back. What leaves it follows the grammar above if
// what enters it does: calls that it drops leave no gap in the numbers. On TurnFinished it first passes on what it held
// back.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual void push(const Event& event, EventSink& next) = 0;
};

// For std::visit with one lambda per event type.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace callgate
