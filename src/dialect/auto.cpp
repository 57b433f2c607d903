// For models of which nobody said what they write. The openers of all dialects are watched; what looks like a call is
// handed to its dialect and kept until it is known that the model made the call instead of quoting one:
//
//   Let me see.<|tool_calls_section_begin|>...      a special token: kimi_k2
//   <tool_call>{"name": ...                         at the start of a line: hermes; with <function= qwen3_coder
//   {"name": "declared_tool", "parameters": ...     at the start of a line: a call; other JSON is text
//   Write `<tool_call>...` to call it.              code, a quotation, not at the start of a line: text
//
// docs/dialects.md has the rules.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "dialect/auto_signs.h"
#include "dialect/call_block.h"
#include "dialect/call_object.h"
#include "dialect/code_context.h"
#include "dialect/explain.h"
#include "dialect/turn_gate.h"
#include "json/scanner.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxLook = 256;  // bytes after an opener that may say which dialect it is
// A block's bytes are read in pieces, so that little is read twice when prose ends it.
constexpr std::size_t kMaxPiece = 4096;
// How often a byte is read again because what it stood in turned out to be text. Keeps the whole linear.
constexpr int kMaxReadings = 4;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == ':';
}

bool is_blank(std::string_view bytes) { return std::all_of(bytes.begin(), bytes.end(), is_space); }

// What a marker is: an index into the signs, the envelopes or the tails.
struct Watched {
  enum class Role : std::uint8_t { sign, reasoning_open, reasoning_close, tail };
  Role role;
  std::size_t index;
};

struct WatchList {
  WatchList() : set(texts()) {}

  std::vector<std::string_view> texts() {
    std::vector<std::string_view> all;
    const auto add = [&](std::string_view text, Watched::Role role, std::size_t index) {
      if (text.empty()) return;
      all.push_back(text);
      watched.push_back({role, index});
    };
    for (std::size_t i = 0; i < auto_signs().size(); ++i) {
      add(auto_signs()[i].text, Watched::Role::sign, i);
    }
    for (std::size_t i = 0; i < auto_reasoning().size(); ++i) {
      add(auto_reasoning()[i].open, Watched::Role::reasoning_open, i);
      add(auto_reasoning()[i].close, Watched::Role::reasoning_close, i);
    }
    for (std::size_t i = 0; i < auto_tails().size(); ++i) {
      add(auto_tails()[i], Watched::Role::tail, i);
    }
    return all;
  }

  std::vector<Watched> watched;
  MarkerSet set;
};

// One per thread, so that nothing is locked.
const WatchList& watch_list() {
  thread_local const WatchList list;
  return list;
}

class AutoParser final : public AuditedParser {
 public:
  AutoParser(const DialectOptions& options, TurnGate::Calls calls)
      : options_(options),
        calls_(calls),
        out_(options.commit, options.max_held_back),
        block_(options.tools),
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
  void feed_block(std::string_view bytes);
  void settle_block();
  void end_block();
  void commit_block();
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
  EventSink* sink_ = nullptr;
  MarkerScan scan_{watch_list().set};
  CodeContext context_;
  Output out_;
  CallBlock block_;
  ExplainRelay relay_;
  std::optional<TurnGate> turn_;
  State state_ = State::prose;
  Channel channel_ = Channel::text;      // of the upstream
  bool channel_changed_ = false;         // since the prose before
  std::size_t block_before_change_ = 0;  // bytes of the block then
  bool reasoning_;                       // inside an envelope of reasoning
  bool tagged_ = false;                  // the model's own tag opened it
  bool said_ = false;                    // text or a call has left
  bool cut_off_ = false;
  const Sign* sign_ = nullptr;  // that is being looked at
  std::string look_;            // from its opener on
  std::string name_;            // the name after it
  std::string_view dialect_;    // that reads the block
  json::Scanner json_;
  int readings_ = 0;        // of the bytes that are being read, before this one
  int block_readings_ = 0;  // of the block's opener
  CallIndex next_call_ = 0;
  std::string_view settled_on_;
  Audit called_;  // of blocks whose calls left
  mutable Audit audit_;
};

void AutoParser::push(std::string_view text, Channel channel, EventSink& sink) {
  sink_ = &sink;
  out_.bind(sink);
  if (channel != channel_) [[unlikely]] {
    change_channel(channel);
  }
  consume(text);
}

void AutoParser::finish(EventSink& sink) {
  sink_ = &sink;
  out_.bind(sink);
  if (state_ == State::turn) {
    turn_->finish(sink);
    if (turn_->has_called()) settled_on_ = dialect_;
    return;
  }
  settle();
  while (state_ == State::look || state_ == State::block || state_ == State::close) {
    if (state_ == State::look) {
      explain_look({});
      give_up(look_.size() - name_.size());
    }
    if (state_ == State::close) close_reasoning();
    if (state_ == State::block) end_block();
    settle();
  }
  if (state_ == State::tail) out_.drop_held();
  leave_lead();
  out_.finish();
}

void AutoParser::cut_off() {
  cut_off_ = true;
  if (state_ == State::block) block_.cut_off();
  if (state_ == State::turn) turn_->cut_off();
}

void AutoParser::interrupt(EventSink& sink) {
  calls_ = TurnGate::Calls::none;
  if (state_ == State::turn) turn_->refuse();
  if (state_ == State::block && !block_.committed()) {
    sink_ = &sink;
    out_.bind(sink);
    give_up(block_.bytes().size());
  }
  finish(sink);
}

const Audit& AutoParser::audit() const {
  audit_ = out_.audit();
  const auto add = [&](const Audit& more) {
    audit_.text += more.text;
    audit_.reasoning += more.reasoning;
    audit_.arguments += more.arguments;
    audit_.marker += more.marker;
  };
  add(called_);
  if (turn_) add(turn_->audit());
  if (state_ == State::block) add(block_.audit());
  return audit_;
}

std::size_t AutoParser::held_size() const {
  switch (state_) {
    case State::look:
      return look_.size();
    case State::block:
      return block_.bytes().size();
    case State::turn:
      return turn_->held_size();
    case State::prose:
    case State::tail:
    case State::close:
    case State::json:
      return out_.held_size();
  }
  return 0;
}

// No marker spans two channels, but a call may.
void AutoParser::change_channel(Channel channel) {
  settle();
  if (state_ == State::look) {
    explain_look({});
    give_up(look_.size() - name_.size());
  }
  if (state_ == State::close) close_reasoning();
  settle();
  channel_ = channel;
  if (!channel_changed_ && state_ == State::block) block_before_change_ = block_.bytes().size();
  channel_changed_ = true;
  if (state_ == State::block || state_ == State::turn) return;
  leave_lead();
  follow_channel();
}

// A block is in the channel that it began in; what follows it is in the upstream's.
void AutoParser::follow_channel() {
  if (!std::exchange(channel_changed_, false)) return;
  if (channel_ == Channel::text) {
    reasoning_ = false;
    tagged_ = false;
  }
  if (out_.channel() != prose_channel()) out_.begin_stretch(prose_channel(), Lead::turn);
  context_.reset();
}

// What may still become a marker does not.
void AutoParser::settle() {
  while (!scan_.idle()) take_found(scan_.finish());
}

void AutoParser::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::prose:
      case State::tail:
        bytes = read_prose(bytes);
        break;
      case State::close:
        bytes = read_close(bytes);
        break;
      case State::look:
        bytes = read_look(bytes);
        break;
      case State::block:
        bytes = read_block(bytes);
        break;
      case State::json:
        bytes = read_json(bytes);
        break;
      case State::turn:
        bytes = read_turn(bytes);
        break;
    }
  }
}

std::string_view AutoParser::read_prose(std::string_view bytes) {
  const MarkerScan::Result found = scan_.push(bytes);
  bytes.remove_prefix(found.used);
  take_found(found);
  return bytes;
}

void AutoParser::take_found(const MarkerScan::Result& found) {
  take_prose(found.held);
  take_prose(found.before);
  if (found.marker == MarkerSet::kNone) return;
  const WatchList& list = watch_list();
  take_marker(list.watched[found.marker], list.set.text(found.marker));
  consume(found.replay);
}

void AutoParser::take_prose(std::string_view bytes) {
  if (bytes.empty()) return;
  context_.push(bytes);
  if (state_ == State::tail) {
    if (is_blank(bytes) && out_.held_size() < options_.max_held_back) {
      out_.hold(bytes);
      return;
    }
    leave_lead();
  }
  said_ = said_ || (prose_channel() == Channel::text && !is_blank(bytes));
  out_.prose(bytes);
}

// What was held back of an end token is text.
void AutoParser::leave_lead() {
  if (state_ != State::tail) return;
  state_ = State::prose;
  out_.release_held();
  said_ = said_ || prose_channel() == Channel::text;
}

void AutoParser::take_marker(const Watched& watched, std::string_view text) {
  if (watched.role != Watched::Role::tail) leave_lead();
  switch (watched.role) {
    case Watched::Role::sign:
      take_sign(auto_signs()[watched.index], text);
      break;
    case Watched::Role::reasoning_open:
      open_reasoning(text);
      break;
    case Watched::Role::reasoning_close:
      take_reasoning_close(watched.index, text);
      break;
    case Watched::Role::tail:
      context_.push(text);
      out_.hold(text);
      state_ = State::tail;
      break;
  }
}

// At the start of the turn, and doubled at the start of reasoning that the prompt opened.
void AutoParser::open_reasoning(std::string_view text) {
  const bool doubled = prose_channel() == Channel::reasoning;
  if (!out_.fresh() || (said_ && !doubled)) return take_prose(text);
  out_.hold(text);
  out_.drop_held();
  reasoning_ = true;
  tagged_ = true;
  context_.reset();
  out_.begin_stretch(Channel::reasoning, Lead::opener);
}

// Reasoning that a tag opened is closed by its partner, reasoning that the prompt opened by any closer.
void AutoParser::take_reasoning_close(std::size_t index, std::string_view text) {
  if (!reasoning_ || (tagged_ && index != 0)) return take_prose(text);
  out_.hold(text);
  if (context_.in_span()) {
    state_ = State::close;
    return;
  }
  close_reasoning();
}

std::string_view AutoParser::read_close(std::string_view bytes) {
  if (bytes[0] != '`') {
    close_reasoning();
    return bytes;
  }
  state_ = State::prose;
  context_.push(out_.held());
  out_.release_held();
  return bytes;
}

void AutoParser::close_reasoning() {
  state_ = State::prose;
  out_.drop_held();
  out_.close_stretch();
  reasoning_ = false;
  tagged_ = false;
  context_.reset();
  out_.begin_stretch(channel_, Lead::closer);
}

// Why the sign opens nothing here; empty: it may.
std::string_view AutoParser::obstacle(const Sign& sign) const {
  if (calls_ == TurnGate::Calls::none) return kNoCalls;
  if (readings_ >= kMaxReadings) return "inside too much that was not a call";
  if (context_.quoted()) return context_.place();
  switch (sign.kind) {
    case Sign::Kind::token:
    case Sign::Kind::turn:
      return {};
    case Sign::Kind::first:
      if (said_) return "not at the start of the turn";
      break;
    case Sign::Kind::text:
      break;
  }
  if (options_.special_tokens_only) return "the upstream has structured calls for that";
  if (channel_ != Channel::text) return "in a reasoning field";
  return context_.line_start() ? std::string_view{} : "not at the start of a line";
}

// Single brackets stand everywhere.
void AutoParser::explain_sign(const Sign& sign, std::string_view reason) {
  if (!relay_.wanted() || sign.text.size() < 2) return;
  relay_.report(sign.dialect.empty() ? "auto" : sign.dialect, position(), position(), reason);
}

// What follows the opener does not say which dialect it is of; `next` is the rest.
void AutoParser::explain_look(std::string_view next) {
  if (!relay_.wanted() || sign_->look == Sign::Look::tag) return;
  const bool list = sign_->look == Sign::Look::list;
  const bool called = !name_.empty() && !knows(name_) &&
                      (list ? next.starts_with('(') : next.empty() || !is_name_byte(next[0]));
  if (called) return relay_.report("auto", position(), position(), undeclared(name_));
  if (list) return;
  relay_.report(
      "auto", position(), position() + look_.size(),
      expectation("'{', '[', '<' or the name of a declared tool",
                  next.empty() ? Found{.extent = Found::Extent::end} : Found::rest(next)));
}

void AutoParser::explain_block() {
  if (!relay_.wanted()) return;
  const std::uint64_t begin = relay_.offset() + block_.start() + block_.text_from();
  switch (block_.verdict()) {
    case CallBlock::Verdict::no_call:
      return relay_.release();
    case CallBlock::Verdict::quoted:
      return relay_.report(dialect_, begin, begin, "prose follows the call");
    case CallBlock::Verdict::refused:
      return relay_.report(dialect_, begin, begin, undeclared(block_.refused_name()));
    case CallBlock::Verdict::open:
      return relay_.report(dialect_, begin, begin, "a structured call follows");
  }
}

void AutoParser::take_sign(const Sign& sign, std::string_view text) {
  const bool starts_turn = sign.kind == Sign::Kind::turn && out_.fresh() && !said_ && !reasoning_;
  if (const std::string_view why = obstacle(sign); !starts_turn && !why.empty()) {
    explain_sign(sign, why);
    return take_prose(text);
  }
  sign_ = &sign;
  look_ = text;
  name_.clear();
  if (starts_turn) return begin_turn(sign);
  state_ = State::look;
  if (sign.look == Sign::Look::none) begin_block(sign.dialect);
}

void AutoParser::begin_turn(const Sign& sign) {
  dialect_ = sign.dialect;
  relay_.begin(dialect_, position(), ExplainRelay::Mode::pass);
  turn_.emplace(make(dialect_, Channel::text), inner_options(), calls_);
  out_.begin_stretch(Channel::text, Lead::turn);
  state_ = State::turn;
  turn_->push(look_, channel_, *sink_);
}

DialectOptions AutoParser::inner_options() {
  DialectOptions options = options_;
  if (relay_.wanted()) options.explain = &relay_;
  return options;
}

std::unique_ptr<AuditedParser> AutoParser::make(std::string_view dialect, Channel start) {
  const Dialect& picked = *find(dialect);
  DialectOptions options = inner_options();
  options.start = start;
  if (picked.commit == Commit::whole_call) options.commit = Commit::whole_call;
  // Every parser of this module is audited.
  return std::unique_ptr<AuditedParser>(
      static_cast<AuditedParser*>(picked.make(options).release()));
}

bool AutoParser::knows(std::string_view name) const {
  return !name.empty() && may_be_called(options_.tools, name);
}

bool AutoParser::begins_declared(std::string_view start) const {
  return std::any_of(options_.tools.begin(), options_.tools.end(),
                     [&](const ToolSpec& tool) { return tool.name.starts_with(start); });
}

std::string_view AutoParser::read_look(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::optional<std::string_view> dialect = look_at(bytes[at]);
    if (!dialect) continue;
    const std::string_view rest = bytes.substr(at);
    if (dialect->empty()) {
      explain_look(rest);
      give_up(look_.size() - name_.size());
    } else {
      begin_block(*dialect);
    }
    return rest;
  }
  return {};
}

// The dialect that the opener is a sign of, empty when it is none; nothing while that is not known. The byte that
// decides is not taken.
std::optional<std::string_view> AutoParser::look_at(char next) {
  const bool in_name = is_name_byte(next) && look_.size() < kMaxLook;
  if (sign_->look == Sign::Look::tag) {
    if (in_name && begins_declared(name_ + next)) {
      name_.push_back(next);
      look_.push_back(next);
      return std::nullopt;
    }
    const bool ends = next == '>' || next == '/' || is_space(next);
    return ends && is_declared(options_.tools, name_) ? sign_->dialect : std::string_view{};
  }
  if (in_name || (name_.empty() && is_space(next) && look_.size() < kMaxLook)) {
    if (in_name) name_.push_back(next);
    look_.push_back(next);
    return std::nullopt;
  }
  return picked(next);
}

// `next` is the first byte after white space, or after a name.
std::string_view AutoParser::picked(char next) const {
  const bool json = name_.empty() && (next == '{' || next == '[');
  const bool tag = name_.empty() && next == '<';
  const bool tool = knows(name_);
  switch (sign_->look) {
    case Sign::Look::tool_call:
      if (json) return "hermes";
      if (tag) return "qwen3_coder";
      if (tool && next == '<') return "glm47";
      return tool && is_space(next) ? "glm45" : "";
    case Sign::Look::tool_calls:
      if (json) return "jamba";
      return tag ? "hunyuan" : "";
    case Sign::Look::invokes:
      if (tag) return "anthropic_xml";
      return tool && next == '(' ? "olmo3" : "";
    case Sign::Look::list:
      if (json && next == '{') return "xlam";
      return tool && next == '(' ? "pythonic" : "";
    case Sign::Look::token_list:
      if (json) return "sarashina";
      return tag ? "solar_open" : "";
    case Sign::Look::none:
    case Sign::Look::tag:
      break;
  }
  return {};
}

void AutoParser::begin_block(std::string_view dialect) {
  dialect_ = dialect;
  state_ = State::block;
  block_readings_ = readings_;
  relay_.begin(dialect, position(), ExplainRelay::Mode::hold);
  block_.begin(make(dialect, Channel::text));
  if (cut_off_) block_.cut_off();
  feed_block(look_);
}

// Up to the end of a line. No more than may be kept, so that the limit does not depend on how the stream is cut.
std::string_view AutoParser::read_block(std::string_view bytes) {
  const std::size_t kept = std::min(block_.bytes().size(), options_.max_held_back);
  const std::size_t room =
      block_.committed() ? kMaxPiece : std::min(kMaxPiece, options_.max_held_back + 1 - kept);
  const std::size_t line = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
  const std::size_t size = std::min(line, room);
  feed_block(bytes.substr(0, size));
  return bytes.substr(size);
}

void AutoParser::feed_block(std::string_view bytes) {
  block_.push(bytes, *sink_);
  settle_block();
}

void AutoParser::settle_block() {
  const bool full = block_.bytes().size() > options_.max_held_back;
  switch (block_.verdict()) {
    case CallBlock::Verdict::open:
      if (full && block_.has_calls() && !block_.committed()) commit_block();
      if (full && block_.refusing()) take_prose(block_.drop_refused());
      break;
    case CallBlock::Verdict::no_call:
      give_up(block_.committed() ? block_.text_to() : look_.size() - name_.size());
      break;
    case CallBlock::Verdict::quoted:
    case CallBlock::Verdict::refused:
      give_up(block_.text_to());
      break;
  }
}

void AutoParser::commit_block() {
  out_.begin_stretch(prose_channel(), Lead::call);
  settled_on_ = dialect_;
  said_ = true;
  block_.commit(next_call_, *sink_);
}

void AutoParser::end_block() {
  block_.finish(*sink_);
  if (block_.verdict() != CallBlock::Verdict::open) return settle_block();
  if (!block_.committed() && block_.has_calls()) commit_block();
  if (!block_.committed()) return give_up(block_.bytes().size());
  const Audit audit = block_.audit();
  called_.arguments += audit.arguments;
  called_.marker += audit.marker;
  next_call_ = block_.next_call();
  state_ = State::prose;
  out_.begin_stretch(prose_channel(), Lead::call);
  follow_channel();
}

// What was looked at is text, up to there; the rest is read again.
void AutoParser::give_up(std::size_t text_to) {
  const bool in_block = state_ == State::block;
  if (in_block) explain_block();
  const bool json = in_block && !channel_changed_ &&
                    block_.verdict() == CallBlock::Verdict::no_call &&
                    (sign_->look == Sign::Look::list || sign_->text == "{");
  const std::string bytes(in_block ? block_.bytes() : std::string_view(look_));
  const std::size_t text_from = in_block ? block_.text_from() : 0;
  if (in_block && block_.committed()) {
    const Audit audit = block_.audit();
    called_.arguments += audit.arguments;
    called_.marker += audit.marker;
    next_call_ = block_.next_call();
    out_.begin_stretch(prose_channel(), Lead::call);
  }
  if (in_block && channel_changed_) text_to = std::max(text_to, block_before_change_);
  const int readings = in_block ? block_readings_ : readings_;
  state_ = json ? State::json : State::prose;
  const std::string_view all(bytes);
  if (json) {
    json_.reset();
    read_again(all, readings + 1);
    return;
  }
  take_prose(all.substr(text_from, text_to - text_from));
  follow_channel();
  read_again(all.substr(text_to), readings + 1);
}

void AutoParser::read_again(std::string_view bytes, int readings) {
  const int outer = std::exchange(readings_, readings);
  consume(bytes);
  readings_ = outer;
}

// A JSON value that is not a call is the model's answer: nothing in it is looked at.
std::string_view AutoParser::read_json(std::string_view bytes) {
  const std::size_t used = json_.push(bytes);
  take_prose(bytes.substr(0, used));
  if (json_.state() != json::Scanner::State::inside) state_ = State::prose;
  return bytes.substr(used);
}

std::string_view AutoParser::read_turn(std::string_view bytes) {
  const std::size_t size = std::min(kMaxPiece, bytes.size());
  turn_->push(bytes.substr(0, size), channel_, *sink_);
  if (turn_->has_called()) settled_on_ = dialect_;
  return bytes.substr(size);
}

std::unique_ptr<DialectParser> make_auto(const DialectOptions& options) {
  return std::make_unique<AutoParser>(options, TurnGate::Calls::declared);
}

}  // namespace

extern const Dialect automatic;
constinit const Dialect automatic{
    .name = "auto", .spec = "whatever the first opener says", .make = make_auto};

std::unique_ptr<DialectParser> make_without_calls(const Dialect& dialect,
                                                  const DialectOptions& options) {
  if (&dialect == &automatic) {
    return std::make_unique<AutoParser>(options, TurnGate::Calls::none);
  }
  std::unique_ptr<DialectParser> parser = dialect.make(options);
  if (dynamic_cast<AuditedParser*>(parser.get()) == nullptr) return parser;
  std::unique_ptr<AuditedParser> audited(static_cast<AuditedParser*>(parser.release()));
  return std::make_unique<TurnGate>(std::move(audited), options, TurnGate::Calls::none);
}

}  // namespace callgate::dialect
