// A dialect that reads a whole turn, with the rules of `auto` for its calls: only declared tools are called, and calls
// in code, in block quotes, or that prose follows are a quotation. What is refused leaves as text, exactly as it was written.
//
//   <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>
//
// Text and reasoning pass as the parser finds them. The bytes of calls are kept until it is known what they are.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/code_context.h"
#include "dialect/kept_calls.h"
#include "dialect/output.h"

namespace callgate::dialect {

class TurnGate final : public AuditedParser, private EventSink {
 public:
  enum class Calls : std::uint8_t {
    declared,  // of declared tools, or any where none are declared
    on_lines,  // the same, where a line or the text starts
    none,      // every call is text
  };
  // REQUIRES: what `options` refers to outlives the gate, and the parser has read nothing.
  TurnGate(std::unique_ptr<AuditedParser> parser, const DialectOptions& options, Calls calls)
      : tools_(options.tools),
        max_held_back_(options.max_held_back),
        explain_(options.explain),
        allowed_(calls),
        parser_(std::move(parser)) {}

  void push(std::string_view text, Channel channel, EventSink& sink) override;
  void finish(EventSink& sink) override;
  void cut_off() override { parser_->cut_off(); }
  std::string_view settled_on() const override { return parser_->settled_on(); }
  const Audit& audit() const override;
  std::size_t held_size() const override;
  // Calls that have not left yet, and all that follow, are text.
  void refuse() {
    allowed_ = Calls::none;
    refused_ = refused_ || !calls_.empty();
  }
  bool has_called() const { return next_ > 0; }

 private:
  void accept(const Event& event) override;
  void start(const CallStarted& event);
  void add(const ArgumentsDelta& event);
  void finish_call(const CallFinished& event);
  void pass_prose(const Event& event);
  void quote(std::size_t end);
  std::string_view obstacle(std::string_view gap);
  void follow(std::string_view text, Channel channel);
  void explain();
  void settle();
  void commit();
  void mark_passed(std::size_t position);
  std::size_t position() const { return static_cast<std::size_t>(parser_->audit().sum()); }
  std::size_t structure_end() const;

  std::span<const ToolSpec> tools_;
  std::size_t max_held_back_;
  Explainer* explain_;
  Calls allowed_;
  std::unique_ptr<AuditedParser> parser_;
  EventSink* sink_ = nullptr;
  std::string bytes_;                // of the turn, from `start_` on
  std::size_t start_ = 0;            // its position in the turn
  std::size_t passed_ = 0;           // position up to which everything has left
  Audit at_passed_;                  // where the bytes up to there went
  CodeContext context_;              // of the prose that has left
  Channel channel_ = Channel::text;  // of that prose
  KeptCalls calls_;
  bool call_open_ = false;
  bool refused_ = false;       // a call that is kept may not leave, so none of them does
  std::string_view obstacle_;  // why, if that is where they stand
  bool explained_ = false;     // why the kept calls are text
  bool live_ = false;          // the open call leaves as it is read
  Audit quoted_;  // what the parser took for arguments and markers of calls that left as text
  std::string refused_name_;  // where somebody asks: of the tool that was not declared
  CallIndex next_ = 0;
  mutable Audit audit_;
};

}  // namespace callgate::dialect
