// The outer machine that every family shares: reads prose and finds what a model wraps into it.
//
//   <think>\nLook it up.\n</think>\n\nOne moment.\n<tool_call>...</tool_call><|im_end|>
//
// A Prose value names the markers; the family's CallReader (call_reader.h) reads what follows a call opener.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/code_context.h"
#include "dialect/marker_set.h"
#include "dialect/output.h"

namespace callgate::dialect {

struct Envelope {
  std::string_view open;  // empty: only the prompt opens it
  std::string_view close;
};

struct Opener {
  enum class Where : std::uint8_t {
    anywhere,
    first,  // only white space may stand before it in its stretch of prose
    line,   // at the start of a line
  };
  // Where the opener alone does not say that a call follows, only the name of a declared tool does.
  enum class Names : std::uint8_t { any, declared };
  // What it is in inline code: a model that explains its format quotes an opener that is ordinary text.
  enum class InCode : std::uint8_t { opener, text };
  std::string_view text;
  Where where = Where::anywhere;
  Names names = Names::any;
  InCode in_code = InCode::opener;
};

// Data only. A marker text stands in one list; spans must have static storage.
struct Prose {
  std::span<const Envelope> reasoning;
  std::span<const Envelope> answer;  // wraps text: its markers are dropped
  std::span<const std::string_view> section_open;
  std::span<const Opener> call_open;
  std::span<const std::string_view> call_close;
  std::span<const std::string_view> section_close;
  std::span<const std::string_view> tail;  // structure at the very end of a turn
  // Special tokens, which the model's text cannot have. Of those in the lists above, a closer without its opener is
  // hidden; the others mean nothing on their own and are hidden everywhere. Markup that is not a call is shown as it is
  // written, its markers included.
  std::span<const std::string_view> special;
  std::span<const std::string_view> markup;  // what begins such markup without an opener
  std::span<const Envelope> hidden;  // what is not meant to be read: dropped with its markers
  // What an opener and its closer with nothing between them are; if the opener is a special token, structure.
  enum class EmptyBlock : std::uint8_t { text, structure };
  EmptyBlock empty_block = EmptyBlock::text;
  // What a block between special tokens is that begins like neither an object nor a tag, in brackets or not: text with
  // its markers, text without them, or structure once its closer comes.
  enum class OddBlock : std::uint8_t { text, contents, structure };
  OddBlock odd_block = OddBlock::text;
  // The prompt ends with the first call opener: the turn starts behind it.
  enum class Start : std::uint8_t { prose, call };
  Start start = Start::prose;
  // What the prose after a call is when the call stood in reasoning that was not closed.
  enum class AfterCall : std::uint8_t { same, text };
  AfterCall after_call = AfterCall::same;
};

inline constexpr Envelope kThink[] = {{"<think>", "</think>"}};

class TurnParser final : public AuditedParser {
 public:
  // REQUIRES: `prose` outlives the parser. Without a reader no call is found.
  TurnParser(const Prose& prose, std::unique_ptr<CallReader> reader, const DialectOptions& options);

  void push(std::string_view text, Channel channel, EventSink& sink) override;
  void finish(EventSink& sink) override;
  void cut_off() override { out_.cut_off(); }

  const Audit& audit() const override { return out_.audit(); }
  std::size_t held_size() const override { return out_.held_size(); }

 private:
  friend std::unique_ptr<TurnParser> make_turn_parser(std::shared_ptr<const Prose> prose,
                                                      std::unique_ptr<CallReader> reader,
                                                      const DialectOptions& options);
  friend std::unique_ptr<TurnParser> make_turn_parser(const Prose& prose,
                                                      std::unique_ptr<CallReader> reader,
                                                      const DialectOptions& options);
  enum class State : std::uint8_t {
    prose,
    section,  // a section was opened, no call yet
    block,   // a call was opened and only white space followed, and brackets where odd blocks count
    odd,     // in a block that is structure if it is closed
    tail,    // a token that ends turns was read
    hidden,  // in a hidden envelope
    call,    // the reader has the bytes
  };
  enum class Role : std::uint8_t {
    reasoning_open,
    reasoning_close,
    answer_open,
    answer_close,
    section_open,
    call_open,
    call_close,
    section_close,
    tail,
    hidden_open,
    hidden_close,
    stray,  // a special token of no list
    markup,
  };
  struct Place {
    Role role;
    std::uint16_t index;  // in its list
    bool special = false;
  };

  // The markers of a Prose and what each of them does.
  struct Markers {
    explicit Markers(const Prose& prose);
    std::vector<Place> places;
    MarkerSet set;
    bool follows_code;  // an opener or a tag of reasoning is text in code
  };
  TurnParser(const Prose& prose, std::shared_ptr<const Markers> markers,
             std::unique_ptr<CallReader> reader, const DialectOptions& options);
  static std::vector<std::string_view> texts(const Prose& prose, std::vector<Place>& places);
  void consume(std::string_view bytes);
  std::string_view read_prose(std::string_view bytes);
  std::string_view read_call(std::string_view bytes);
  void take_prose(std::string_view bytes);
  void take_marker(std::size_t marker);
  void take_found(const MarkerScan::Result& found);
  void settle();
  void take_reasoning(const Place& place, std::string_view text);
  void open_reasoning(std::string_view text);
  void close_envelope();
  void leave_reasoning();
  bool may_hold(std::size_t size) const;
  void hold_in_section(std::string_view bytes);
  void close_empty_section(std::string_view text);
  void close_empty_block(std::string_view text);
  void hold_or_leave(std::string_view bytes, bool hold);
  bool reads_odd_blocks() const;
  void hold_in_block(std::string_view bytes);
  void show_contents();
  bool lead_goes_on(Role role) const;
  bool stays_hidden(Role role);
  bool is_empty_block() const;
  void leave_lead();
  void hide(std::string_view bytes);
  void take_odd(std::string_view text, bool special);
  bool may_open(const Opener& opener) const;
  void open_call(std::size_t opener, std::string_view text);
  void close_call(bool& owed, std::string_view text, bool special);
  void leave_call(Step::Next next);
  void explain_call(const Found& found);
  void explain_lead();
  void explain_opener(const Opener& opener);
  std::string take_back_read(bool called);
  void change_channel(Channel channel);
  Channel prose_channel() const;

  std::shared_ptr<const Prose> kept_prose_;  // null: prose_ has static storage
  const Prose& prose_;
  std::unique_ptr<CallReader> reader_;
  std::shared_ptr<const Markers> markers_;
  MarkerScan scan_;
  Output out_;
  std::size_t max_held_back_;
  Explainer* explain_;
  bool explained_ = false;       // why what is being read is not a call
  std::uint64_t opener_at_ = 0;  // position of the call's opener, where somebody asks
  State state_ = State::prose;
  Channel channel_ = Channel::text;  // of the upstream
  bool reasoning_ = false;           // inside an envelope of reasoning
  bool in_section_ = false;          // the call that is being read
  bool call_close_owed_ = false;
  bool section_close_owed_ = false;
  bool shows_markup_ = false;  // an opener left as text: so do the markers that belong to it
  bool special_lead_ = false;  // what opened the section or block is a special token
  bool line_start_ = true;
  CodeContext code_;             // where a marker asks for it
  std::size_t opener_size_ = 0;  // of what is held of a call before the reader got any byte
  int readings_ = 0;             // of the bytes that are being read, before this one
  int opener_readings_ = 0;      // of the opener of the call that is being read
  CallIndex calls_before_ = 0;   // when the reader got the bytes
};

// The markers that end a call whose arguments are broken beyond repair.
std::vector<std::string_view> enders(const Prose& prose);

// The parser keeps a prose that is made for one request.
std::unique_ptr<TurnParser> make_turn_parser(std::shared_ptr<const Prose> prose,
                                             std::unique_ptr<CallReader> reader,
                                             const DialectOptions& options);

// REQUIRES: `prose` has static storage: its markers are put in order once per thread and shared by all parsers.
std::unique_ptr<TurnParser> make_turn_parser(const Prose& prose, std::unique_ptr<CallReader> reader,
                                             const DialectOptions& options);

}  // namespace callgate::dialect
