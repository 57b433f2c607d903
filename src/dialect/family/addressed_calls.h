// The family that addresses every message and writes calls as tags:
//
//   <|start|>assistant to=self<|message|>Need weather.<|eom|>
//   <|start|>assistant to=get_weather<|message|><atem:function_calls>
//   <atem:invoke name="get_weather"><atem:parameter name="city">Paris</atem:parameter></atem:invoke>
//   </atem:function_calls><|eom|>
//   <|start|>assistant to=user<|message|>Fine.<|eot|>
//
// `self` is reasoning, `user` is text, any other recipient is a tool. A message to the user may quote calls and headers:
// there only an end token ends it, and tags are a call only if they are all of the message and name a declared tool.
// Header tokens are never text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/explain.h"
#include "dialect/family/schema_types.h"
#include "dialect/family/tagged_arguments.h"
#include "dialect/marker_set.h"
#include "dialect/output.h"

namespace callgate::dialect {

class AddressedCalls final : public AuditedParser {
 public:
  explicit AddressedCalls(const DialectOptions& options);

  void push(std::string_view text, Channel channel, EventSink& sink) override;
  void finish(EventSink& sink) override;
  void cut_off() override { out_.cut_off(); }
  const Audit& audit() const override { return out_.audit(); }
  std::size_t held_size() const override { return out_.held_size(); }

 private:
  enum class State : std::uint8_t {
    lead,         // at the start of the turn, perhaps in a header that the prompt has begun
    between,      // behind a message
    header,       // behind `<|start|>`
    body,         // reasoning, or text outside of any message
    answer_lead,  // a message to the user, white space so far
    answer,
    all_tags,   // a message to the user that is nothing but tags so far
    call_lead,  // a message to a tool, or what follows a call
    tag,        // in the tag that names the call
    call,
  };
  enum class Token : std::uint8_t { start, message, end, calls_open, calls_close, invoke };

  static Token meaning(std::size_t marker);
  void consume(std::string_view bytes);
  std::string_view read_marked(std::string_view bytes);
  std::string_view read_tool_lead(std::string_view bytes);
  std::string_view read_call(std::string_view bytes);
  void read_tag(char c);
  void end_tag(std::string_view behind);
  void take_found(const MarkerScan::Result& found);
  void take_text(std::string_view bytes);
  void take_lead(std::string_view bytes);
  void take_header(std::string_view bytes);
  void take_between(std::string_view bytes);
  void take_call_lead(std::string_view bytes);
  void take_all_tags(std::string_view bytes);
  void take_token(Token token, std::string_view text);
  void take_header_token(Token token, std::string_view text);
  void take_call_token(Token token, std::string_view text);
  void take_end(std::string_view text);
  void open_header(std::string_view text);
  void open_message(std::string_view text);
  void begin_tag(std::string_view text);
  void begin_call(std::string_view name);
  void settle_tags();
  std::string tool_name(std::string_view tag) const;
  std::string declared_name(std::string name) const;
  void give_up(std::string_view expected, const Found& found, State next);
  void release(State next);
  void drop(std::string_view text);
  void say(std::string_view bytes);

  MarkerSet tokens_;
  MarkerScan scan_;
  Output out_;
  ToolSchemas schemas_;
  TaggedCalls calls_;
  State state_ = State::lead;
  Channel upstream_ = Channel::text;
  std::size_t max_held_back_;
  bool reasoning_ = false;
  bool inside_ = false;       // the header stands in a message that has not ended
  bool closed_ = false;       // at all_tags: the calls were closed
  bool awaits_call_ = false;  // a message to a tool began, nothing but white space so far
  OpenerDoubts doubts_;
  CallIndex calls_before_ = 0;
  std::string header_;
  std::string tag_;  // behind `<atem:invoke`, not handed to the output yet
};

}  // namespace callgate::dialect
