#include "dialect/turn_parser.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "dialect/explain.h"

namespace callgate::dialect {

std::vector<std::string_view> TurnParser::texts(const Prose& prose, std::vector<Place>& places) {
  std::vector<std::string_view> texts;
  const auto add = [&](std::string_view text, Role role, std::size_t index) {
    if (text.empty()) return;
    texts.push_back(text);
    places.push_back({role, static_cast<std::uint16_t>(index)});
  };
  const auto add_all = [&](const auto& list, Role role, auto&& text_of) {
    for (std::size_t i = 0; i < list.size(); ++i) add(text_of(list[i]), role, i);
  };
  const auto itself = [](std::string_view text) { return text; };
  const auto opener = [](const Envelope& envelope) { return envelope.open; };
  const auto closer = [](const Envelope& envelope) { return envelope.close; };
  add_all(prose.reasoning, Role::reasoning_open, opener);
  add_all(prose.reasoning, Role::reasoning_close, closer);
  add_all(prose.answer, Role::answer_open, opener);
  add_all(prose.answer, Role::answer_close, closer);
  add_all(prose.section_open, Role::section_open, itself);
  add_all(prose.call_open, Role::call_open, [](const Opener& open) { return open.text; });
  add_all(prose.call_close, Role::call_close, itself);
  add_all(prose.section_close, Role::section_close, itself);
  add_all(prose.tail, Role::tail, itself);
  add_all(prose.hidden, Role::hidden_open, opener);
  add_all(prose.hidden, Role::hidden_close, closer);
  add_all(prose.markup, Role::markup, itself);
  for (std::size_t i = 0; i < prose.special.size(); ++i) {
    const auto known = static_cast<std::size_t>(
        std::find(texts.begin(), texts.end(), prose.special[i]) - texts.begin());
    if (known == texts.size()) add(prose.special[i], Role::stray, i);
    places[known].special = true;
  }
  return texts;
}

TurnParser::Markers::Markers(const Prose& prose)
    : set(texts(prose, places)),
      follows_code(std::any_of(prose.call_open.begin(), prose.call_open.end(),
                               [](const Opener& o) { return o.in_code == Opener::InCode::text; }) ||
                   std::any_of(places.begin(), places.end(), [](const Place& place) {
                     return place.role == Role::reasoning_open && !place.special;
                   })) {}

TurnParser::TurnParser(const Prose& prose, std::unique_ptr<CallReader> reader,
                       const DialectOptions& options)
    : TurnParser(prose, std::make_shared<const Markers>(prose), std::move(reader), options) {}

TurnParser::TurnParser(const Prose& prose, std::shared_ptr<const Markers> markers,
                       std::unique_ptr<CallReader> reader, const DialectOptions& options)
    : prose_(prose),
      reader_(std::move(reader)),
      markers_(std::move(markers)),
      scan_(markers_->set),
      out_(options.commit, options.max_held_back, options.explain),
      max_held_back_(std::max<std::size_t>(options.max_held_back, 1)),
      explain_(options.explain),
      reasoning_(options.start == Channel::reasoning) {
  out_.set_tools(options.tools);
  if (reasoning_) out_.begin_stretch(Channel::reasoning, Lead::opener);
  if (prose.start == Prose::Start::call) open_call(0, {});
}

void TurnParser::push(std::string_view text, Channel channel, EventSink& sink) {
  out_.bind(sink);
  if (out_.pass_plain(text)) return;
  if (channel != channel_) [[unlikely]] {
    change_channel(channel);
  }
  consume(text);
}

void TurnParser::finish(EventSink& sink) {
  out_.bind(sink);
  settle();
  while (state_ == State::call) {
    reader_->finish(out_);
    if (explain_ != nullptr) explain_call({.extent = Found::Extent::end});
    leave_call(Step::Next::rejected);
    settle();
  }
  if (state_ == State::tail) out_.drop_held();
  leave_lead();
  out_.finish();
}

// No marker spans two channels, but a call may.
void TurnParser::change_channel(Channel channel) {
  settle();
  channel_ = channel;
  code_.reset();
  if (channel == Channel::text) reasoning_ = false;
  if (state_ != State::call) {
    leave_lead();
    if (out_.channel() != prose_channel()) out_.begin_stretch(prose_channel(), Lead::turn);
  }
}

Channel TurnParser::prose_channel() const { return reasoning_ ? Channel::reasoning : channel_; }

// What may still become a marker does not.
void TurnParser::settle() {
  while (!scan_.idle()) take_found(scan_.finish());
}

void TurnParser::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    bytes = state_ == State::call ? read_call(bytes) : read_prose(bytes);
  }
}

std::string_view TurnParser::read_prose(std::string_view bytes) {
  const MarkerScan::Result found = scan_.push(bytes);
  bytes.remove_prefix(found.used);
  take_found(found);
  return bytes;
}

void TurnParser::take_found(const MarkerScan::Result& found) {
  take_prose(found.held);
  take_prose(found.before);
  if (found.marker == MarkerSet::kNone) return;
  take_marker(found.marker);
  consume(found.replay);
}

void TurnParser::take_prose(std::string_view bytes) {
  if (bytes.empty()) return;
  line_start_ = bytes.back() == '\n';
  if (markers_->follows_code) code_.push(bytes);
  switch (state_) {
    case State::prose:
      out_.prose(bytes);
      break;
    case State::section:
      hold_in_section(bytes);
      break;
    case State::block:
      hold_in_block(bytes);
      break;
    case State::odd:
      hold_or_leave(bytes, may_hold(bytes.size()));
      break;
    case State::tail:
      hold_or_leave(bytes, std::all_of(bytes.begin(), bytes.end(), is_space));
      break;
    case State::hidden:
      hide(bytes);
      break;
    case State::call:
      break;  // markers are not looked for there
  }
}

void TurnParser::hold_or_leave(std::string_view bytes, bool hold) {
  if (hold) {
    out_.hold(bytes);
  } else {
    leave_lead();
    out_.prose(bytes);
  }
}

bool TurnParser::reads_odd_blocks() const {
  return special_lead_ && prose_.odd_block != Prose::OddBlock::text;
}

// The first byte that is neither white space nor a bracket says what the block is.
void TurnParser::hold_in_block(std::string_view bytes) {
  const std::string_view lead = reads_odd_blocks() ? " \t\r\n[" : " \t\r\n";
  const std::size_t first = bytes.find_first_not_of(lead);
  const bool undecided = first == std::string_view::npos;
  const bool odd = !undecided && reads_odd_blocks() && bytes[first] != '{' && bytes[first] != '<';
  if (odd && prose_.odd_block == Prose::OddBlock::contents) {
    show_contents();
    out_.prose(bytes);
    return;
  }
  if (odd) state_ = State::odd;
  hold_or_leave(bytes, (undecided || odd) && may_hold(bytes.size()));
}

// The opener of an odd block and the white space after it are structure.
void TurnParser::show_contents() {
  if (explain_ != nullptr) explain_lead();
  const std::string_view read = out_.held().substr(opener_size_);
  const std::string contents(read.substr(std::min(read.find_first_not_of(" \t\r\n"), read.size())));
  out_.unhold(contents.size());
  out_.drop_markers();
  state_ = State::prose;
  out_.prose(contents);
}

bool TurnParser::may_hold(std::size_t size) const {
  return size <= max_held_back_ - std::min(max_held_back_, out_.held_size());
}

void TurnParser::hold_in_section(std::string_view bytes) {
  const std::size_t room = max_held_back_ - std::min(max_held_back_, out_.held_size());
  if (bytes.size() < room) {
    out_.hold_prose(bytes);
  } else {
    leave_lead();
    out_.prose(bytes);
  }
}

// What was held back of an opened section or call or of an end token is not structure.
void TurnParser::leave_lead() {
  const bool opened = state_ == State::section || state_ == State::block || state_ == State::odd;
  if (explain_ != nullptr && opened) [[unlikely]] {
    explain_lead();
  }
  if (opened && special_lead_) shows_markup_ = true;
  out_.release_held();
  state_ = State::prose;
}

bool TurnParser::lead_goes_on(Role role) const {
  switch (state_) {
    case State::section:
      return role == Role::call_open || role == Role::section_close;
    case State::block:
    case State::odd:
      return role == Role::call_close || role == Role::section_close;
    case State::tail:
      return role == Role::tail;
    case State::prose:
    case State::hidden:
    case State::call:
      break;
  }
  return false;
}

// What opens something ends a hidden envelope that is not closed.
bool TurnParser::stays_hidden(Role role) {
  if (state_ != State::hidden) return false;
  if (role == Role::hidden_close) state_ = State::prose;
  return role != Role::reasoning_open && role != Role::answer_open && role != Role::section_open &&
         role != Role::call_open;
}

void TurnParser::hide(std::string_view bytes) {
  out_.hold(bytes);
  out_.drop_held();
}

// A marker without its partner.
void TurnParser::take_odd(std::string_view text, bool special) {
  if (special && !shows_markup_) {
    hide(text);
  } else {
    out_.prose(text);
  }
}

void TurnParser::take_marker(std::size_t marker) {
  const std::string_view text = markers_->set.text(marker);
  const Place place = markers_->places[marker];
  if (stays_hidden(place.role)) return hide(text);
  if (!lead_goes_on(place.role)) leave_lead();
  switch (place.role) {
    case Role::reasoning_open:
    case Role::reasoning_close:
      take_reasoning(place, text);
      break;
    case Role::answer_open:
      out_.hold(text);
      out_.drop_held();
      reasoning_ = false;
      out_.begin_stretch(channel_, Lead::opener);
      break;
    case Role::answer_close:
      out_.hold(text);
      close_envelope();
      break;
    case Role::section_open:
      out_.hold(text);
      special_lead_ = place.special;
      state_ = State::section;
      break;
    case Role::call_open:
      special_lead_ = place.special;
      open_call(place.index, text);
      break;
    case Role::call_close:
      if (state_ == State::block || state_ == State::odd) {
        close_empty_block(text);
      } else {
        close_call(call_close_owed_, text, place.special);
      }
      break;
    case Role::section_close:
      if (state_ == State::section) {
        close_empty_section(text);
      } else if (state_ == State::block || state_ == State::odd) {
        close_empty_block(text);
      } else {
        close_call(section_close_owed_, text, place.special);
      }
      break;
    case Role::tail:
      out_.hold(text);
      state_ = State::tail;
      break;
    case Role::hidden_open:
      hide(text);
      state_ = State::hidden;
      break;
    case Role::hidden_close:
      hide(text);
      break;
    case Role::stray:
      take_odd(text, true);
      break;
    case Role::markup:
      shows_markup_ = true;
      out_.prose(text);
      break;
  }
  line_start_ = false;
  if (markers_->follows_code) code_.push(text);
}

// An answer that explains a tag quotes it as code.
void TurnParser::take_reasoning(const Place& place, std::string_view text) {
  if (!place.special && prose_channel() == Channel::text && code_.in_code()) {
    out_.prose(text);
  } else if (place.role == Role::reasoning_open) {
    open_reasoning(text);
  } else {
    out_.hold(text);
    close_envelope();
  }
}

void TurnParser::open_reasoning(std::string_view text) {
  if (prose_channel() == Channel::reasoning && !out_.fresh()) {
    out_.prose(text);
    return;
  }
  out_.hold(text);
  out_.drop_held();
  reasoning_ = true;
  code_.reset();
  out_.begin_stretch(Channel::reasoning, Lead::opener);
}

// A closer without its opener is a marker too: the prompt may have opened the envelope.
void TurnParser::close_envelope() {
  out_.drop_held();
  out_.close_stretch();
  code_.reset();
  reasoning_ = false;
  out_.begin_stretch(channel_, Lead::closer);
}

bool TurnParser::may_open(const Opener& opener) const {
  if (opener.in_code == Opener::InCode::text && code_.in_inline_code()) return false;
  switch (opener.where) {
    case Opener::Where::anywhere:
      return true;
    case Opener::Where::first:
      return out_.fresh();
    case Opener::Where::line:
      return line_start_ || (out_.fresh() && out_.lead() != Lead::call);
  }
  return false;
}

void TurnParser::open_call(std::size_t opener, std::string_view text) {
  if (reader_ == nullptr || !may_open(prose_.call_open[opener])) {
    leave_lead();
    if (explain_ != nullptr) explain_opener(prose_.call_open[opener]);
    shows_markup_ = shows_markup_ || special_lead_;
    out_.prose(text);
    return;
  }
  in_section_ = state_ == State::section;
  state_ = State::call;
  calls_before_ = out_.calls();
  if (explain_ != nullptr) [[unlikely]] {
    opener_at_ = out_.position();
    out_.doubt()->reason.clear();
    explained_ = false;
  }
  out_.hold(text);
  opener_size_ = out_.held_size();
  opener_readings_ = readings_;
  reader_->open(opener, out_);
}

// Behind a call a close marker is structure; behind text only when one is missing.
void TurnParser::close_call(bool& owed, std::string_view text, bool special) {
  if (!owed && !(out_.fresh() && out_.lead() == Lead::call)) return take_odd(text, special);
  owed = false;
  out_.hold(text);
  out_.drop_held();
  out_.begin_stretch(prose_channel(), Lead::call);
}

// A section without calls is structure when it is empty, else what it is: prose between odd markers.
void TurnParser::close_empty_section(std::string_view text) {
  const bool empty = out_.held_prose().find_first_not_of(" \t\r\n") == std::string_view::npos;
  out_.hold(text);
  if (!empty) {
    leave_lead();
    return;
  }
  out_.drop_held();
  state_ = State::prose;
  out_.begin_stretch(prose_channel(), Lead::call);
}

void TurnParser::close_empty_block(std::string_view text) {
  section_close_owed_ = section_close_owed_ || in_section_;
  out_.hold(text);
  out_.drop_markers();
  state_ = State::prose;
  out_.begin_stretch(prose_channel(), Lead::call);
}

std::string_view TurnParser::read_call(std::string_view bytes) {
  out_.expect_anything();
  const bool open = out_.call_open();
  const std::size_t room =
      open ? bytes.size() : max_held_back_ - std::min(max_held_back_, out_.held_size());
  Step step = reader_->push(bytes.substr(0, room), out_);
  bytes.remove_prefix(step.used);
  const bool full = !out_.call_open() && out_.held_size() >= max_held_back_;
  if (step.next == Step::Next::more && full && !reader_->overflow(out_)) {
    step.next = Step::Next::rejected;
    out_.expected(kTooLong, {});
  }
  // A reader that is done with its doubts may still pass what it read as prose.
  if (explain_ != nullptr) [[unlikely]] {
    if (step.next == Step::Next::rejected || !out_.doubt()->reason.empty()) explain_call({});
  }
  if (step.next != Step::Next::more) {
    leave_call(step.next);
    consume(step.replay);
  }
  return bytes;
}

// Bare brackets and tags open so much that is not a call that a place is not worth a word.
void TurnParser::explain_opener(const Opener& opener) {
  if (opener.text.size() < 2) return;
  const bool quoted = opener.in_code == Opener::InCode::text && code_.in_inline_code();
  explain_->stayed_text({.begin = out_.position(),
                         .end = out_.position(),
                         .reason = quoted ? code_.place()
                                   : opener.where == Opener::Where::first
                                       ? "other text stands before it"
                                       : "not at the start of a line"});
}

void TurnParser::explain_lead() {
  Doubt& doubt = *out_.doubt();
  if (state_ != State::section && !doubt.reason.empty()) {
    explain_->stayed_text({.begin = opener_at_, .end = doubt.at, .reason = doubt.reason});
    doubt.reason.clear();
    return;
  }
  explain_->stayed_text({.begin = out_.position() - out_.held_size(),
                         .end = out_.position(),
                         .reason = "there is no call in it"});
}

// The reader gave up, and what is held is text, unless calls have left and nothing came after them.
void TurnParser::explain_call(const Found& found) {
  const std::string_view held = out_.held();
  const bool called = out_.calls() != calls_before_;
  const bool implied =
      opener_size_ == 0;  // the prompt wrote the opener: plain text is not a near miss
  if (called ? std::all_of(held.begin(), held.end(), is_space) : explained_ || implied) return;
  const bool ends = found.extent == Found::Extent::end;
  out_.expected(ends ? "the rest of the call" : "a call", found);
  if (!called && is_empty_block()) return;  // its close marker may make it structure
  Doubt& doubt = *out_.doubt();
  explain_->stayed_text({.begin = called ? out_.position() - held.size() : opener_at_,
                         .end = doubt.at,
                         .reason = doubt.reason});
  doubt.reason.clear();
  explained_ = true;
}

void TurnParser::leave_reasoning() {
  if (prose_.after_call == Prose::AfterCall::same || !reasoning_) return;
  reasoning_ = false;
  out_.begin_stretch(channel_, Lead::call);
}

void TurnParser::leave_call(Step::Next next) {
  state_ = State::prose;
  line_start_ = false;
  const bool called = out_.calls() != calls_before_;
  if (called) leave_reasoning();
  if (!called && next == Step::Next::rejected && is_empty_block()) {
    state_ = State::block;
    return;
  }
  if (called || next == Step::Next::closed) {
    shows_markup_ = false;
    call_close_owed_ = true;
    section_close_owed_ = section_close_owed_ || in_section_;
    if (!called) out_.begin_stretch(prose_channel(), Lead::call);
  }
  const std::string read = take_back_read(called);
  if (!called && next == Step::Next::rejected && special_lead_) shows_markup_ = true;
  out_.release_held();
  if (out_.channel() != prose_channel()) {
    out_.begin_stretch(prose_channel(), called ? Lead::call : Lead::turn);
  }
  const int outer = std::exchange(readings_, opener_readings_ + 1);
  consume(read);
  readings_ = outer;
}

// Nothing but white space, and brackets where odd blocks count, behind the opener so far.
bool TurnParser::is_empty_block() const {
  const std::string_view held = out_.held();
  const bool structure = special_lead_ || prose_.empty_block == Prose::EmptyBlock::structure;
  return structure && opener_size_ > 0 && held.size() >= opener_size_ &&
         out_.channel() == prose_channel() &&
         std::all_of(held.begin() + static_cast<std::ptrdiff_t>(opener_size_), held.end(),
                     [&](char c) { return is_space(c) || (c == '[' && reads_odd_blocks()); });
}

// What the reader has read is prose if it is not a call: the turn reads it again, for the markers in it. The opener is not
// read again, nothing is that came in two channels, and no byte is more often than keeps this linear.
std::string TurnParser::take_back_read(bool called) {
  constexpr int kMostReadings = 8;
  if (out_.channel() != prose_channel() || opener_readings_ == kMostReadings) return {};
  const std::string_view held = out_.held();
  const std::size_t opener = called ? 0 : std::min(opener_size_, held.size());
  std::string read(held.substr(opener));
  out_.unhold(read.size());
  return read;
}

std::vector<std::string_view> enders(const Prose& prose) {
  std::vector<std::string_view> texts;
  const auto add = [&](const auto& list) { texts.insert(texts.end(), list.begin(), list.end()); };
  add(prose.section_open);
  add(prose.call_close);
  add(prose.section_close);
  add(prose.tail);
  for (const Opener& opener : prose.call_open) {
    if (opener.names == Opener::Names::any) texts.push_back(opener.text);
  }
  return texts;
}

std::unique_ptr<TurnParser> make_turn_parser(std::shared_ptr<const Prose> prose,
                                             std::unique_ptr<CallReader> reader,
                                             const DialectOptions& options) {
  // That of the last request: the next one of a conversation has the same tools. Per thread, so that nothing is locked.
  struct Last {
    std::shared_ptr<const Prose> prose;
    std::shared_ptr<const TurnParser::Markers> markers;
  };
  thread_local Last last;
  if (last.prose != prose) last = {prose, std::make_shared<const TurnParser::Markers>(*prose)};
  std::unique_ptr<TurnParser> parser(
      new TurnParser(*prose, last.markers, std::move(reader), options));
  parser->kept_prose_ = std::move(prose);
  return parser;
}

std::unique_ptr<TurnParser> make_turn_parser(const Prose& prose, std::unique_ptr<CallReader> reader,
                                             const DialectOptions& options) {
  // A few dozen entries at most: one per dialect. Per thread, so that nothing is locked.
  thread_local std::unordered_map<const Prose*, std::shared_ptr<const TurnParser::Markers>> known;
  std::shared_ptr<const TurnParser::Markers>& markers = known[&prose];
  if (markers == nullptr) markers = std::make_shared<const TurnParser::Markers>(prose);
  return std::unique_ptr<TurnParser>(new TurnParser(prose, markers, std::move(reader), options));
}

}  // namespace callgate::dialect
