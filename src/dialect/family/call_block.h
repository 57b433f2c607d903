// Calls that may turn out to be a quotation, kept until that is known.
//
//   <tool_call>{"name": "f", "arguments": {}}</tool_call>            the turn ends: two calls
//   <tool_call>{"name": "g", "arguments": {}}</tool_call>
//
//   <tool_call>{"name": "f", "arguments": {}}</tool_call> runs f.    prose follows: text, as it was written
//
// A dialect's parser reads the bytes; the block keeps them and what the parser makes of them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/kept_calls.h"
#include "dialect/output.h"
#include "dialect/plain_run.h"

namespace callgate::dialect {

class CallBlock final : public EventSink {
 public:
  enum class Verdict : std::uint8_t {
    open,     // nothing is known yet
    no_call,  // the bytes are not a call
    quoted,   // calls, and prose after them
    refused,  // the call of a tool that was not declared, up to its end
  };

  // An empty list of tools accepts every name. Nothing is put off in a block of more than `limit` bytes.
  // REQUIRES: `tools` outlives the block.
  CallBlock(std::span<const ToolSpec> tools, std::size_t limit) : tools_(tools), limit_(limit) {}

  // REQUIRES: the parser has read nothing.
  void begin(std::unique_ptr<AuditedParser> parser);
  // `sink` gets what the parser finds once the block is committed.
  void push(std::string_view bytes, EventSink& sink);
  // True: bytes in the middle of a call that decide nothing are kept, and the parser reads them with the next ones. False:
  // push() them; they may decide something, or the block would grow beyond its limit.
  bool put_off(std::string_view bytes) {
    if (bytes.size() > may_put_off_ || !is_inner_push(bytes)) return false;
    may_put_off_ -= bytes.size();
    bytes_.append(bytes);
    return true;
  }
  void cut_off() { parser_->cut_off(); }
  void finish(EventSink& sink);
  void accept(const Event& event) override;

  Verdict verdict() const { return verdict_; }
  // A call that counts was begun.
  bool has_calls() const { return committed_ || (!calls_.empty() && !refusing_); }
  std::string_view bytes() const { return bytes_; }
  // With a verdict: bytes() before `text_from` are those of calls that left, from there to `text_to` they are text that
  // nobody reads again, and the rest is yet to be read.
  std::size_t text_from() const { return text_from_; }
  std::size_t text_to() const { return text_to_; }

  // Position of bytes() in the block.
  std::size_t start() const { return dropped_; }
  // The tool whose call was refused.
  std::string_view refused_name() const { return refused_name_; }

  // Inside a call that will be refused.
  bool refusing() const { return refusing_ && call_open_; }
  // Its bytes so far: text, whatever follows. REQUIRES: refusing().
  std::string drop_refused();

  // Lets the calls go, numbered from `first`, and from now on whatever the parser finds.
  // REQUIRES: has_calls() and the verdict is open.
  void commit(CallIndex first, EventSink& sink);
  bool committed() const { return committed_; }
  CallIndex next_call() const { return next_; }
  // Where the bytes of the calls that left went.
  Audit audit() const;

 private:
  void feed();
  void forget_bytes();
  void keep(const CallStarted& event);
  void keep(const ArgumentsDelta& event);
  void keep(const CallFinished& event);
  void take_prose();

  std::span<const ToolSpec> tools_;
  std::size_t limit_;
  std::unique_ptr<AuditedParser> parser_;
  EventSink* sink_ = nullptr;
  Verdict verdict_ = Verdict::open;
  bool committed_ = false;
  bool refusing_ = false;  // the open call is of a tool that was not declared
  bool call_open_ = false;
  std::string refused_name_;
  std::string bytes_;
  std::size_t read_ = 0;              // of them, by the parser
  std::size_t may_put_off_ = 0;       // bytes more
  std::size_t dropped_ = 0;           // bytes ahead of bytes_ that belong to calls that left
  std::size_t calls_end_ = 0;         // of the last call that counts, from the start of the block
  std::uint64_t argument_bytes_ = 0;  // up to there
  std::size_t text_from_ = 0;
  std::size_t text_to_ = 0;
  std::size_t refused_bytes_ = 0;  // that drop_refused() gave
  KeptCalls calls_;
  CallIndex next_ = 0;
};

}  // namespace callgate::dialect
