// The family that addresses every message: a header says the channel and the recipient, then the content follows.
//
//   <|channel|>analysis<|message|>Need weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather
//   <|constrain|>json<|message|>{"city":"Paris"}<|call|>
//
// A recipient that is a tool makes the content a call, in whatever channel; `analysis` is reasoning, the rest is text.
// Headers are read as leniently as models write them: what is neither a channel nor a recipient is skipped, and so are headers
// without a message and the names of channels between messages.
//
// Content that is not JSON, as the model's own tools take it (`to=python`), is the text parameter of a declared tool; without
// such a tool the message is hidden. After `<|constrain|>json` it is not a call and is shown as it was written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/family/json_arguments.h"
#include "dialect/family/json_string.h"
#include "dialect/family/tagged_value.h"
#include "dialect/marker_set.h"
#include "dialect/output.h"

namespace callgate::dialect {

class ChannelParser final : public AuditedParser {
 public:
  explicit ChannelParser(const DialectOptions& options);

  void push(std::string_view text, Channel channel, EventSink& sink) override;
  void finish(EventSink& sink) override;
  const Audit& audit() const override { return out_.audit(); }
  std::size_t held_size() const override { return out_.held_size(); }

 private:
  enum class State : std::uint8_t {
    lead,     // at the start of the turn, perhaps in a header that the prompt has begun
    between,  // behind a message
    header,
    body,
    odd_body,    // of a message that was not a call and left as it was written
    call_lead,   // in the content of a call, before its brace
    call_quote,  // there, behind a quote
    call_odd,    // there is none
    arguments,
    quoted,     // arguments in a JSON string
    raw,        // arguments that are not JSON
    hidden,     // the same, of a tool that is not declared
    call_rest,  // behind the arguments
  };
  enum class Token : std::uint8_t { start, channel, constrain, message, end, call, finish };

  void consume(std::string_view bytes);
  std::string_view read_marked(std::string_view bytes);
  std::string_view read_call_lead(std::string_view bytes);
  std::string_view read_call_quote(std::string_view bytes);
  std::string_view read_arguments(std::string_view bytes);
  std::string_view read_quoted(std::string_view bytes);
  void take_found(const MarkerScan::Result& found);
  void take_text(std::string_view bytes);
  void take_lead(std::string_view bytes);
  void take_header(std::string_view bytes);
  void take_between(std::string_view bytes);
  void take_token(Token token, std::string_view text);
  void take_header_token(Token token, std::string_view text);
  void open_header(std::string_view text);
  void end_header(Token token, std::string_view text);
  void open_body(std::string_view text);
  void end_message(std::string_view text);
  void end_call(CallOutcome outcome);
  void begin_raw();
  void take_raw(std::string_view bytes);
  void end_raw();
  void leave_between(Token token);
  void release(State next);
  void explain(std::string_view expected, const Found& found);
  void drop(std::string_view text);
  void say(std::string_view bytes);

  std::span<const ToolSpec> tools_;
  MarkerSet tokens_;
  MarkerScan scan_;
  Output out_;
  JsonArguments arguments_;
  JsonString string_;
  std::string decoded_;
  State state_ = State::lead;
  Channel upstream_ = Channel::text;
  std::size_t max_held_back_;
  Explainer* explain_;
  bool analysis_ = false;     // the message's channel is reasoning
  bool raw_is_text_ = false;  // raw arguments are the tool's text parameter
  TaggedValue value_;         // ... of which this is the string
  std::string escaped_;
  std::string header_;
  std::string name_;  // of the call that the message is
};

}  // namespace callgate::dialect
