// The parser of `auto`. It reads prose itself, follows where in a Markdown text it is, and lets other dialects read what may
// be calls; auto.cpp says how, docs/dialects.md what counts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/auto_signs.h"
#include "dialect/code_context.h"
#include "dialect/explain.h"
#include "dialect/family/call_block.h"
#include "dialect/turn_gate.h"
#include "json/scanner.h"

namespace callgate::dialect {

class AutoParser final : public AuditedParser {
 public:
  // REQUIRES: `list` outlives the parser.
  AutoParser(const DialectOptions& options, TurnGate::Calls calls,
             const WatchList& list = watch_list())
      : options_(options),
        calls_(calls),
        list_(list),
        out_(options.commit, options.max_held_back),
        block_(options.tools, options.max_held_back),
        relay_(options.explain),
        reasoning_(options.start == Channel::reasoning) {
    if (reasoning_) out_.begin_stretch(Channel::reasoning, Lead::opener);
  }

  void push(std::string_view text, Channel channel, EventSink& sink) override;
  void finish(EventSink& sink) override;
  void cut_off() override;
  void interrupt(EventSink& sink) override;
  std::string_view settled_on() const override { return settled_on_; }
  const Audit& audit() const override;
  std::size_t held_size() const override;

 private:
  enum class State : std::uint8_t {
    prose,
    tail,   // a token that ends turns was read
    close,  // a reasoning closer in inline code: the next byte says whether it is quoted
    look,   // an opener was read, its dialect is not known
    block,  // a dialect reads what may be calls
    json,   // JSON that is not a call passes as text
    turn,   // a dialect reads the whole turn
  };

  void consume(std::string_view bytes);
  std::string_view read_prose(std::string_view bytes);
  std::string_view read_close(std::string_view bytes);
  std::string_view read_look(std::string_view bytes);
  std::string_view read_block(std::string_view bytes);
  std::string_view read_json(std::string_view bytes);
  std::string_view read_turn(std::string_view bytes);
  void take_found(const MarkerScan::Result& found);
  void take_prose(std::string_view bytes);
  void take_marker(const Watched& watched, std::string_view text);
  void take_sign(const Sign& sign, std::string_view text);
  void open_reasoning(std::string_view text);
  void take_reasoning_close(std::size_t index, std::string_view text);
  void close_reasoning();
  void settle();
  void leave_lead();
  void change_channel(Channel channel);
  void follow_channel();
  Channel prose_channel() const { return reasoning_ ? Channel::reasoning : channel_; }

  std::string_view obstacle(const Sign& sign) const;
  bool knows(std::string_view name) const;
  bool begins_declared(std::string_view start) const;
  std::string_view picked(char next) const;
  std::optional<std::string_view> look_at(char next);
  void begin_block(std::string_view dialect);
  void begin_turn(const Sign& sign);
  TurnGate::Calls turn_calls() const;
  void feed_block(std::string_view bytes);
  void settle_block();
  void end_block();
  void commit_block();
  void leave_calls();
  void give_up(std::size_t text_to);
  void read_again(std::string_view bytes, int readings);
  std::uint64_t position() const { return out_.position() + called_.sum(); }
  void explain_sign(const Sign& sign, std::string_view reason);
  void explain_look(std::string_view next);
  void explain_block();
  DialectOptions inner_options();
  std::unique_ptr<AuditedParser> make(std::string_view dialect, Channel start);

  DialectOptions options_;
  TurnGate::Calls calls_;
  const WatchList& list_;
  EventSink* sink_ = nullptr;
  MarkerScan scan_{list_.set};
  CodeContext context_;
  Output out_;
  CallBlock block_;
  ExplainRelay relay_;
  std::unique_ptr<TurnGate> turn_;
  State state_ = State::prose;
  Channel channel_ = Channel::text;      // of the upstream
  bool channel_changed_ = false;         // since the prose before
  std::size_t block_before_change_ = 0;  // bytes of the block then
  bool reasoning_;                       // inside an envelope of reasoning
  bool tagged_ = false;                  // the model's own tag opened it
  bool said_ = false;                    // text or a call has left
  bool cut_off_ = false;
  bool in_refused_section_ = false;  // behind the opener of a section that stayed text
  bool behind_refused_ = false;      // behind its closer, and only white space followed
  const Sign* sign_ = nullptr;       // that is being looked at
  std::string look_;                 // from its opener on
  std::string name_;                 // the name after it
  std::string_view dialect_;         // that reads the block
  json::Scanner json_;
  int readings_ = 0;        // of the bytes that are being read, before this one
  int block_readings_ = 0;  // of the block's opener
  CallIndex next_call_ = 0;
  std::string_view settled_on_;
  Audit called_;  // of blocks whose calls left
  mutable Audit audit_;
};

// `auto` with other dialects beside those of this library. REQUIRES: `list` outlives the dialect and its parsers.
Dialect automatic_with(const WatchList& list);

}  // namespace callgate::dialect
