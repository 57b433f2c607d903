// The family that says of every message what its content is: reasoning, text, or a call as a JSON object.
//
//   <|message_model|><|content_thinking|>Need weather.<|end_message|>
//   <|message_model|>get_weather<|content_invoke_tool_json|>{"name":"get_weather","args":{"city":"Paris"}}<|end_message|>
//
// The name before the marker of a call is structure; the one in the object counts. All markers are special tokens: they
// are never text, but for a `<|message_model|>` inside a message that no content follows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/explain.h"
#include "dialect/family/call_object.h"
#include "dialect/marker_set.h"
#include "dialect/output.h"

namespace callgate::dialect {

class ContentBlocks final : public AuditedParser {
 public:
  explicit ContentBlocks(const DialectOptions& options);

  void push(std::string_view text, Channel channel, EventSink& sink) override;
  void finish(EventSink& sink) override;
  void cut_off() override { out_.cut_off(); }
  const Audit& audit() const override { return out_.audit(); }
  std::size_t held_size() const override { return out_.held_size(); }

 private:
  enum class State : std::uint8_t {
    header,  // at the start of a message: what is held may be the name of a tool
    body,
    call_lead,  // behind the marker of a call, before its brace
    call,
    call_rest,  // behind the object
    between,    // behind a message
  };
  enum class Token : std::uint8_t { message, reasoning, text, call, end, other };

  static Token meaning(std::size_t marker);
  void consume(std::string_view bytes);
  std::string_view read_marked(std::string_view bytes);
  std::string_view read_call_lead(std::string_view bytes);
  std::string_view read_call(std::string_view bytes);
  void take_found(const MarkerScan::Result& found);
  void take_text(std::string_view bytes);
  void take_header(std::string_view bytes);
  void take_between(std::string_view bytes);
  void take_token(Token token, std::string_view text);
  void open_header(std::string_view text);
  void leave_header();
  void reject_call();
  void drop(std::string_view text);
  void say(std::string_view bytes);

  MarkerSet tokens_;
  MarkerScan scan_;
  Output out_;
  CallObject object_;
  State state_ = State::header;
  Channel upstream_ = Channel::text;
  std::size_t max_held_back_;
  bool reasoning_ = false;
  bool inside_ = false;  // the header stands in a message that has not ended
  OpenerDoubts doubts_;
  CallIndex calls_before_ = 0;
  std::size_t opener_ = 0;  // bytes of the message's marker at the start of what is held
  std::string header_;
};

}  // namespace callgate::dialect
