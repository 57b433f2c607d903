#include "dialect/family/tagged_arguments.h"

#include <algorithm>
#include <cstring>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

std::string_view argument_byte(const char& c) { return {&c, 1}; }

}  // namespace

TaggedCalls::TaggedCalls(std::span<const TaggedGrammar> grammars, std::span<const Opener> openers,
                         const DialectOptions& options, const Prose* objects)
    : grammars_(grammars),
      openers_(openers),
      schemas_(options.tools),
      limit_(std::max<std::size_t>(options.max_held_back, 1)),
      options_(options),
      objects_prose_(objects) {}

TagPlace TaggedCalls::place() const {
  switch (at_) {
    case At::lead:
      return TagPlace::lead;
    case At::before_value:
      return TagPlace::before_value;
    case At::value:
      return TagPlace::value;
    case At::raw_value:
      return TagPlace::raw_value;
    case At::after_missing:
    case At::after_shown:
      return TagPlace::missing;
    case At::call_name:
    case At::call_text:
    case At::body:
    case At::key:
    case At::after_value:
    case At::after_apart:
    case At::apart_key:
    case At::json:
    case At::python:
    case At::pair_key:
    case At::pair_value:
    case At::after_json:
    case At::maybe_key:
    case At::object_calls:
      break;
  }
  return TagPlace::body;
}

void TaggedCalls::open(std::size_t opener, Output& out) {
  const TaggedGrammar& grammar = grammars_[grammars_.size() == 1 ? 0 : opener];
  if (grammar_ != &grammar) tokens_.use(grammar);
  grammar_ = &grammar;
  opener_ = opener;
  at_ = At::lead;
  step_ = {};
  json_.clear();
  seen_.clear();
  parameters_ = 0;
  whole_json_ = false;
  broken_ = false;
  wraps_ = false;
  parenthesis_ = false;
  stray_close_ = false;
  last_lead_ = {};
  if (openers_[opener].text == "{") {
    read_objects(out);
    return;
  }
  partial_ = openers_[opener].text;
  handed_ = partial_.size();
  const TagToken* found = nullptr;
  if (tokens_.match(place(), partial_, found) == TagTokens::Match::whole) take_token(*found, out);
}

Step TaggedCalls::push(std::string_view bytes, Output& out) {
  if (const char last = out.take_last_plain(); last != 0) last_ = last;
  step_ = {};
  std::size_t i = 0;
  while (i < bytes.size() && step_.next == Step::Next::more &&
         (out.call_open() || out.held_size() < limit_)) {
    if ((at_ == At::value || at_ == At::raw_value) && partial_.empty()) {
      i += read_value(bytes.substr(i), out);
    } else if (at_ == At::json) {
      i += read_json(bytes.substr(i), out);
    } else if (at_ == At::python) {
      i += read_python(bytes.substr(i), out);
    } else if (at_ == At::object_calls) {
      step_ = objects_->push(bytes.substr(i), out);
      i += step_.used;
      break;
    } else {
      byte_used_ = true;
      read(bytes[i], out);
      i += byte_used_ ? 1 : 0;
    }
  }
  if (!json_.empty()) {
    out.arguments(json_);
    json_.clear();
  }
  if (at_ == At::value && partial_.empty() && line_end_ == LineEnd::none && !fresh_value_ &&
      value_.streams() && !shown_.is_opening()) {
    out.expect_plain(Output::Plain::value);
  }
  step_.used = i;
  if (step_.next == Step::Next::rejected && !out.call_open()) {
    out.expected(wanted(), byte_used_ ? Found{} : Found::rest(bytes.substr(i)));
  }
  return step_;
}

bool TaggedCalls::read(char c, Output& out) {
  if (at_ == At::call_name || at_ == At::key) return read_name(c, out);
  if (at_ == At::apart_key) return read_apart_key(c, out);
  if (at_ == At::maybe_key) return read_maybe_key(c, out);
  if (at_ == At::pair_key) return read_pair_key(c, out);
  if (at_ == At::pair_value) return read_pair_value(c, out);
  return read_token(c, out);
}

bool TaggedCalls::read_name(char c, Output& out) {
  const bool bracket = c == '{' || c == '[';
  if (bracket && at_ == At::call_name && is_bare_name() && name_.name().empty() &&
      objects_prose_ != nullptr) {
    return read_objects(out);
  }
  switch (name_.push(c, out)) {
    case TagName::State::open:
      return true;
    case TagName::State::whole:
      return end_name(out);
    case TagName::State::before:
      at_ = At::call_text;
      return read_token(c, out);
    case TagName::State::bad:
      break;
  }
  byte_used_ = false;
  // The opener of a key, written twice.
  const std::string_view open = grammar_->parameter.open;
  const std::string_view begun = name_.end_so_far();
  if (at_ == At::key && trimmed(name_.name()).empty() && !begun.empty() &&
      open.starts_with(begun) && open[begun.size()] == c) {
    partial_ = begun;
    at_ = At::body;
    return true;
  }
  return bad_name(out);
}

bool TaggedCalls::read_token(char c, Output& out) {
  if (partial_.empty()) {
    if (is_space(c)) return read_space(c, out);
    const bool bare = at_ == At::call_text || (at_ == At::body && parameters_ == 0);
    if (c == '{' && bare) {
      begin_json(out);
      byte_used_ = false;
      return true;
    }
    if (c != stop_ && is_bare_name() && (at_ == At::call_text || at_ == At::after_json)) {
      return read_bare(c, out);
    }
    if (at_ == At::lead && objects_prose_ != nullptr && (c == '{' || c == '[')) {
      return read_objects(out);
    }
  }
  partial_.push_back(c);
  if (at_ == At::after_value && !shown_.any() && is_apart()) {
    at_ = At::after_apart;
    section_closed_ = false;
  }
  const TagToken* found = nullptr;
  using Match = TagTokens::Match;
  const bool words = waits() && at_ != At::after_apart && is_apart();
  switch (words ? Match::none : tokens_.match(place(), partial_, found)) {
    case Match::whole:
      return take_token(*found, out);
    case Match::partial:
      return true;
    case Match::none:
      break;
  }
  partial_.pop_back();
  return no_token(c, out);
}

// Behind something that is structure or data, as what follows will tell.
bool TaggedCalls::waits() const {
  return at_ == At::after_value || at_ == At::after_apart || at_ == At::after_missing ||
         at_ == At::after_shown;
}

// Markers stand side by side or on lines of their own. Apart by blanks only, they may be words of a text.
bool TaggedCalls::is_apart() const {
  const std::size_t last = pending_.find_last_not_of(" \t\r\n");
  const std::string_view space = std::string_view(pending_).substr(last + 1);
  return !space.empty() && space.find('\n') == std::string_view::npos;
}

bool TaggedCalls::read_space(char c, Output& out) {
  if (!waits()) {
    out.hold(argument_byte(c));
    return true;
  }
  if (c == '\n' && at_ == At::after_apart && section_closed_) {
    byte_used_ = false;
    end_value();
    out.hold(pending_);
    pending_.clear();
    return end_call(CallOutcome::complete, out);
  }
  pending_.push_back(c);
  if (pending_.size() < limit_) return true;
  const std::string data = std::move(pending_);
  take_value(data, out);
  at_ = At::value;
  return true;
}

// The section was closed before the value was, and a new line follows: the value ended with the section.
bool TaggedCalls::ends_missing() const {
  const std::size_t last = pending_.find_last_not_of(" \t\r\n");
  return section_closed_ && partial_.empty() && pending_.find('\n', last + 1) != std::string::npos;
}

// The byte does not go on with any marker that may stand here.
bool TaggedCalls::no_token(char c, Output& out) {
  switch (at_) {
    case At::value:
    case At::raw_value: {
      const std::string partial = std::move(partial_);
      return back_to_value(std::string_view(partial).substr(0, 1),
                           std::string_view(partial).substr(1), c, out);
    }
    case At::after_missing:
      if (ends_missing()) {
        byte_used_ = false;
        end_value();
        out.hold(pending_);
        pending_.clear();
        return end_call(CallOutcome::complete, out, tokens_.kept(place(), partial_));
      }
      [[fallthrough]];
    case At::after_value:
    case At::after_apart:
    case At::after_shown: {
      if (at_ == At::after_shown) shown_.close();
      const std::string pending = std::move(pending_);
      const std::string partial = std::move(partial_);
      at_ = At::value;
      return back_to_value(pending, partial, c, out);
    }
    case At::body:
    case At::before_value:
    case At::after_json:
      byte_used_ = false;
      return end_call(CallOutcome::malformed, out, tokens_.kept(place(), partial_));
    case At::lead:
    case At::call_text:
      byte_used_ = false;
      return reject(tokens_.kept(place(), partial_).substr(handed_));
    case At::call_name:
    case At::key:
    case At::apart_key:
    case At::json:
    case At::python:
    case At::pair_key:
    case At::pair_value:
    case At::maybe_key:
    case At::object_calls:
      break;
  }
  return true;
}

// `data` was data after all; `again` and `c` are looked at afresh.
bool TaggedCalls::back_to_value(std::string_view data, std::string_view again, char c,
                                Output& out) {
  partial_.clear();
  pending_.clear();
  take_value(data, out);
  const char stop = at_ == At::raw_value ? grammar_->raw_close[0] : stop_;
  const auto look = [&](char b) {
    if (!partial_.empty()) return read_token(b, out);
    if (b == stop) {
      partial_.assign(1, b);
    } else {
      take_value(argument_byte(b), out);
    }
    return true;
  };
  for (const char b : again) look(b);
  return look(c);
}

std::size_t TaggedCalls::read_value(std::string_view bytes, Output& out) {
  const char stop = at_ == At::value ? stop_ : grammar_->raw_close[0];
  const void* hit = std::memchr(bytes.data(), stop, bytes.size());
  const std::size_t run =
      hit == nullptr ? bytes.size()
                     : static_cast<std::size_t>(static_cast<const char*>(hit) - bytes.data());
  if (run > 0) take_value(bytes.substr(0, run), out);
  if (hit == nullptr) return run;
  partial_.assign(1, stop);
  return run + 1;
}

void TaggedCalls::take_value(std::string_view bytes, Output& out) {
  if (bytes.empty()) return;
  out.argument_bytes(bytes);
  last_ = bytes.back();
  if (shown_.is_opening()) shown_.text(bytes);
  if (line_end_ == LineEnd::cr && bytes[0] == '\n') {
    line_end_ = LineEnd::crlf;
    bytes.remove_prefix(1);
  }
  if (fresh_value_ && !grammar_->value_newline.empty()) bytes = without_lead(bytes);
  if (bytes.empty()) return;
  fresh_value_ = false;
  push_line_end();
  if (bytes.ends_with('\n')) {
    line_end_ = bytes.ends_with("\r\n") ? LineEnd::crlf : LineEnd::lf;
  } else if (bytes.ends_with('\r')) {
    line_end_ = LineEnd::cr;
  }
  bytes.remove_suffix(text_of(line_end_).size());
  push_value(bytes);
}

std::string_view TaggedCalls::text_of(LineEnd end) {
  constexpr std::string_view kTexts[] = {"", "\n", "\r", "\r\n"};
  return kTexts[static_cast<std::size_t>(end)];
}

// It is data.
void TaggedCalls::push_line_end() {
  if (line_end_ != LineEnd::none) push_value(text_of(line_end_));
  line_end_ = LineEnd::none;
}

// Without the line end that begins a value. A carriage return waits for the byte behind it.
std::string_view TaggedCalls::without_lead(std::string_view bytes) {
  const bool first = line_end_ == LineEnd::none;
  if (line_end_ == LineEnd::crlf) {
    line_end_ = LineEnd::none;
    fresh_value_ = false;
  } else if (first && bytes == "\r") {
    line_end_ = LineEnd::cr;
    bytes = {};
  } else if (first && (bytes.starts_with('\n') || bytes.starts_with("\r\n"))) {
    bytes.remove_prefix(bytes[0] == '\n' ? 1 : 2);
    fresh_value_ = false;
  }
  return bytes;
}

void TaggedCalls::push_value(std::string_view bytes) {
  if (!wraps_) [[likely]] {
    value_.push(bytes, json_);
    return;
  }
  wrapped_ += bytes;
  if (wrapped_.size() > limit_) leave_wrapper();
}

std::size_t TaggedCalls::read_json(std::string_view bytes, Output& out) {
  const std::size_t used = scanner_.push(bytes);
  value_.push(bytes.substr(0, used), json_);
  out.argument_bytes(bytes.substr(0, used));
  if (scanner_.state() == json::Scanner::State::failed) {
    value_.cut(json_);
    end_call(CallOutcome::malformed, out);
  } else if (scanner_.state() == json::Scanner::State::closed) {
    broken_ = !value_.end(json_);
    at_ = At::after_json;
  }
  return used;
}

void TaggedCalls::begin_name(At at, const NameTag& tag) {
  at_ = at;
  name_.begin(tag);
}

bool TaggedCalls::bad_name(Output& out) {
  const std::string_view replay = name_.end_so_far();
  if (at_ == At::key) return end_call(CallOutcome::malformed, out, replay);
  return reject(replay);
}

bool TaggedCalls::end_name(Output& out) {
  const std::string_view name = name_.name();
  if (at_ == At::call_name) {
    if (name.empty()) return reject({});
    at_ = At::call_text;
    if (!name_.self_closing()) return true;
    begin_call(out);
    return end_call(CallOutcome::complete, out);
  }
  if (name.empty()) return end_call(CallOutcome::malformed, out);
  begin_key(name);
  type_.clear();
  if (!grammar_->type_attribute.empty()) {
    type_ = attribute(name_.attributes(), grammar_->type_attribute).value_or("");
  }
  if (!grammar_->value_open.empty()) {
    at_ = At::before_value;
    return true;
  }
  begin_value();
  if (name_.self_closing()) {
    end_value();
    at_ = At::body;
  }
  return true;
}

void TaggedCalls::begin_call(Output& out) {
  schema_ = schemas_.arguments_of(name_.name());
  out.start_call(name_.name());
  at_ = At::body;
}

void TaggedCalls::begin_json(Output& out) {
  if (at_ == At::call_text) begin_call(out);
  whole_json_ = true;
  scanner_.reset();
  value_.begin({ValueKind::object}, limit_, json_);
  at_ = At::json;
}

void TaggedCalls::begin_key(std::string_view name) {
  place_ = schema_.member(name);
  seen_.add(name);
  wraps_ = parameters_ == 0 && schema_.is_wrapped_by(name);
  if (!wraps_) write_key();
}

void TaggedCalls::write_key() {
  json_.push_back(parameters_++ == 0 ? '{' : ',');
  json::append_string(json_, name_.name());
  json_.push_back(':');
}

void TaggedCalls::begin_value() {
  at_ = At::value;
  fresh_value_ = true;
  line_end_ = LineEnd::none;
  last_ = 0;
  shown_.begin(*grammar_);
  if (!wraps_) return begin_typed_value();
  wrapped_.clear();
  value_.begin_json(limit_, json_);  // streams nothing
}

void TaggedCalls::begin_typed_value() {
  if (type_ == "false") {
    value_.begin_json(limit_, json_);
    return;
  }
  KindSet kinds = type_ == "true" ? KindSet{ValueKind::string} : kinds_of_type_name(type_);
  if (kinds.empty()) kinds = place_.kinds();
  if (kinds.empty() && grammar_->unknown == TaggedGrammar::Unknown::json) {
    value_.begin_json(limit_, json_);
  } else {
    value_.begin(kinds, limit_, json_);
  }
}

// A line end before the close marker is data where the dialect puts none there. Before the next parameter it is not.
void TaggedCalls::end_value(bool closed) {
  const bool data = closed && grammar_->value_newline.empty();
  if (data || line_end_ == LineEnd::cr) push_line_end();
  line_end_ = LineEnd::none;
  if (wraps_ && unwrap()) return;
  if (wraps_) leave_wrapper();
  broken_ = !value_.end(json_) || broken_;
}

// The members of the object in a wrapper are the arguments. False: it holds something else.
bool TaggedCalls::unwrap() {
  std::string object;
  append_typed(object, wrapped_, {ValueKind::object});
  if (object[0] != '{' || !schema_.knows_members_of(object)) return false;
  wraps_ = false;
  json::Reader in(object);
  for (std::string_view key; in.next_member(key); in.skip()) {
    seen_.add(key);
    ++parameters_;
  }
  object.pop_back();
  if (parameters_ > 0) json_ += object;
  return true;
}

// The parameter is one like all others.
void TaggedCalls::leave_wrapper() {
  wraps_ = false;
  write_key();
  begin_typed_value();
  value_.push(wrapped_, json_);
}

bool TaggedCalls::end_call(CallOutcome outcome, Output& out, std::string_view replay) {
  if (outcome == CallOutcome::complete && !whole_json_) json_ += parameters_ == 0 ? "{}" : "}";
  if (outcome == CallOutcome::complete && broken_) outcome = CallOutcome::malformed;
  out.arguments(json_);
  json_.clear();
  partial_.clear();
  const bool left = out.finish_call(outcome);
  const bool closed = left && outcome == CallOutcome::complete;
  step_ = {.next = closed ? Step::Next::closed : Step::Next::rejected, .replay = replay};
  return false;
}

bool TaggedCalls::reject(std::string_view replay) {
  partial_.clear();
  step_ = {.next = Step::Next::rejected, .replay = replay};
  return false;
}

std::string_view TaggedCalls::wanted() const {
  if (at_ == At::call_name) return "the name of a tool";
  if (at_ == At::pair_key || at_ == At::pair_value) return "an argument of the call";
  return at_ == At::call_text ? grammar_->parameter.open : grammar_->call.open;
}

bool TaggedCalls::is_prefix_of_parameter() const {
  return !partial_.empty() && grammar_->parameter.open.starts_with(partial_);
}

// And of nothing else that may stand behind a name: the call has no arguments.
bool TaggedCalls::is_beginning_of_close() const {
  const auto begins = [&](std::string_view marker) { return marker.starts_with(partial_); };
  const auto& fillers = grammar_->filler;
  const auto& closes = grammar_->section_close;
  return !partial_.empty() && !begins(grammar_->parameter.open) &&
         std::none_of(fillers.begin(), fillers.end(), begins) &&
         (begins(grammar_->call_close) || std::any_of(closes.begin(), closes.end(), begins));
}

// Its own close marker is missing at the end of the turn.
bool TaggedCalls::is_whole_without_close(const Output& out) const {
  return !out.is_cut_off() && !seen_.lack(schema_);
}

void TaggedCalls::finish(Output& out) {
  bool closed = false;   // by a marker, or the arguments are a JSON value that needs none
  bool settled = false;  // nothing that was begun is open
  bool is_next = false;  // what is pending belongs to the next call
  const bool more_was_coming = is_prefix_of_parameter();
  switch (at_) {
    case At::lead:
    case At::call_name: {
      const bool cut = is_cut_tag();
      finish_lead(out);
      if (cut) out.drop_markers();
      return;
    }
    case At::object_calls:
      objects_->finish(out);
      return;
    case At::pair_key:
      if (!out.call_open()) return;
      settled = word_.empty();
      break;
    case At::pair_value:
      settled = quote_ == 0;
      end_pair();
      break;
    case At::call_text:
      if (parenthesis_) return;
      begin_call(out);
      [[fallthrough]];
    case At::body:
      settled = parameters_ > 0 ? !more_was_coming : stray_close_ || is_beginning_of_close();
      break;
    case At::key:
      out.hold(name_.end_so_far());
      break;
    case At::value:
    case At::raw_value:
      push_line_end();
      if (wraps_) leave_wrapper();
      value_.cut(json_);
      break;
    case At::apart_key:
      end_value();
      break;
    case At::after_apart:
      end_value();
      settled = !more_was_coming;
      closed = section_closed_;
      break;
    case At::after_value:
      end_value();
      settled = !more_was_coming;
      break;
    case At::after_missing:
    case At::after_shown:
      end_value();
      closed = true;
      break;
    case At::json:
      value_.cut(json_);
      break;
    case At::python:
      python_.cut(json_);
      break;
    case At::after_json:
      closed = true;
      break;
    case At::maybe_key:
      closed = true;
      is_next = true;
      break;
    case At::before_value:
      break;
  }
  if (!is_next) out.hold(pending_);
  out.hold(partial_);
  const bool whole = closed || (settled && is_whole_without_close(out));
  end_call(whole ? CallOutcome::complete : CallOutcome::truncated, out);
  if (is_next) out.hold(pending_);
  pending_.clear();
}

bool TaggedCalls::overflow(Output& out) {
  if (at_ == At::object_calls) return objects_->overflow(out);
  finish_lead(out);
  return false;
}

// Hands over what is known not to be a call.
void TaggedCalls::finish_lead(Output& out) {
  if (at_ == At::call_name) {
    out.hold(name_.end_so_far());
  } else {
    out.hold(std::string_view(partial_).substr(handed_));
  }
  partial_.clear();
}

// The turn ends in markers alone, or behind the name of a call.
bool TaggedCalls::is_cut_tag() const {
  if (!grammar_->hides_cut_tag) return false;
  if (at_ == At::lead) return true;
  const std::string_view attributes = name_.attributes_so_far();
  return trimmed(attributes).empty() || attribute(attributes, grammar_->call.key).has_value();
}

void TaggedCalls::open_named(std::string_view name, Output& out) {
  open(0, out);
  at_ = At::call_text;
  name_.be(grammar_->call, name);
}

std::unique_ptr<DialectParser> make_tagged_parser(const Prose& prose,
                                                  std::span<const TaggedGrammar> grammars,
                                                  const DialectOptions& options) {
  return make_turn_parser(
      prose, std::make_unique<TaggedCalls>(grammars, prose.call_open, options, &prose), options);
}

}  // namespace callgate::dialect
