// AutoParser: what an opener is a sign of, and what becomes of the calls after it.
#include <algorithm>
#include <utility>

#include "dialect/auto_parser.h"
#include "dialect/family/call_object.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxLook = 256;  // bytes after an opener that may say which dialect it is
// A block's bytes are read in pieces, so that little is read twice when prose ends it.
constexpr std::size_t kMaxPiece = 4096;
// How often a byte is read again because what it stood in turned out to be text. Keeps the whole linear.
constexpr int kMaxReadings = 4;

bool is_tag_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

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
  if (in_refused_section_ && !sign.section) return "inside markup that stayed text";
  if (behind_refused_) return "behind markup that stayed text";
  return context_.line_start() ? std::string_view{} : kNotAtLineStart;
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
                      (list ? next.starts_with('(') : next.empty() || !is_tag_byte(next[0]));
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
    // What a code span or a fence holds ends with it. Elsewhere the section goes on until its closer.
    if (sign.section && !context_.in_code()) in_refused_section_ = true;
    return take_prose(text);
  }
  if (sign.section) in_refused_section_ = false;
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
  turn_ = std::make_unique<TurnGate>(make(dialect_, Channel::text), inner_options(), turn_calls());
  out_.begin_stretch(Channel::text, Lead::turn);
  state_ = State::turn;
  turn_->push(look_, channel_, *sink_);
}

// What the turn's reasoning says about its dialect does not make ordinary text a marker of calls.
TurnGate::Calls AutoParser::turn_calls() const {
  if (calls_ == TurnGate::Calls::none || !list_.calls_in_text(dialect_)) return calls_;
  const bool refused = options_.special_tokens_only || channel_ != Channel::text;
  return refused ? TurnGate::Calls::none : TurnGate::Calls::on_lines;
}

DialectOptions AutoParser::inner_options() {
  DialectOptions options = options_;
  if (relay_.wanted()) options.explain = &relay_;
  return options;
}

std::unique_ptr<AuditedParser> AutoParser::make(std::string_view dialect, Channel start) {
  const Dialect& picked = list_.dialect(dialect);
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
  const bool in_name = is_tag_byte(next) && look_.size() < kMaxLook;
  if (sign_->look == Sign::Look::tag) {
    if (in_name && begins_declared(name_ + next)) {
      name_.push_back(next);
      look_.push_back(next);
      return std::nullopt;
    }
    const bool ends = next == '>' || next == '/' || is_space(next);
    return ends && is_declared(options_.tools, name_) ? sign_->dialect : std::string_view{};
  }
  const bool in_list = sign_->look == Sign::Look::list && name_.empty();
  const bool in_object = in_list && look_.find('{') != std::string::npos;
  if (in_object && !is_space(next)) return next == '\'' ? "sarashina" : "xlam";
  if (in_list && next == '{') {
    look_.push_back(next);
    return std::nullopt;
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
  leave_calls();
  state_ = State::prose;
  follow_channel();
}

// A committed block is over.
void AutoParser::leave_calls() {
  const Audit audit = block_.audit();
  called_.arguments += audit.arguments;
  called_.marker += audit.marker;
  next_call_ = block_.next_call();
  out_.begin_stretch(prose_channel(), Lead::call);
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
  if (in_block && block_.committed()) leave_calls();
  if (in_block && channel_changed_ && block_before_change_ > block_.start()) {
    text_to = std::max(text_to, block_before_change_ - block_.start());
  }
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

}  // namespace callgate::dialect
