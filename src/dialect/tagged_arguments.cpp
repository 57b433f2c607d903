#include "dialect/tagged_arguments.h"

#include <algorithm>
#include <cstring>

#include "dialect/plain_run.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

std::string_view byte(const char& c) { return {&c, 1}; }

}  // namespace

TaggedCalls::TaggedCalls(std::span<const TaggedGrammar> grammars, std::span<const Opener> openers,
                         const DialectOptions& options)
    : grammars_(grammars),
      openers_(openers),
      schemas_(options.tools),
      limit_(std::max<std::size_t>(options.max_held_back, 1)) {}

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
    case At::after_json:
      break;
  }
  return TagPlace::body;
}

void TaggedCalls::open(std::size_t opener, Output& out) {
  const TaggedGrammar& grammar = grammars_[grammars_.size() == 1 ? 0 : opener];
  if (grammar_ != &grammar) tokens_.use(grammar);
  grammar_ = &grammar;
  at_ = At::lead;
  step_ = {};
  json_.clear();
  parameters_ = 0;
  whole_json_ = false;
  broken_ = false;
  last_lead_ = {};
  partial_ = openers_[opener].text;
  handed_ = partial_.size();
  const TagToken* found = nullptr;
  if (tokens_.match(place(), partial_, found) == TagTokens::Match::whole) take_token(*found, out);
}

Step TaggedCalls::push(std::string_view bytes, Output& out) {
  if (at_ == At::value && partial_.empty() && !newline_ && !fresh_value_ && value_.streams() &&
      !shown_.is_opening() && is_plain_push(bytes)) [[likely]] {
    out.argument_bytes(bytes);
    out.arguments(bytes);
    return {.used = bytes.size()};
  }
  step_ = {};
  std::size_t i = 0;
  while (i < bytes.size() && step_.next == Step::Next::more &&
         (out.call_open() || out.held_size() < limit_)) {
    if ((at_ == At::value || at_ == At::raw_value) && partial_.empty()) {
      i += read_value(bytes.substr(i), out);
    } else if (at_ == At::json) {
      i += read_json(bytes.substr(i), out);
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
  step_.used = i;
  return step_;
}

bool TaggedCalls::read(char c, Output& out) {
  if (at_ == At::call_name || at_ == At::key) return read_name(c, out);
  if (at_ == At::apart_key) return read_apart_key(c, out);
  return read_token(c, out);
}

bool TaggedCalls::read_name(char c, Output& out) {
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
    out.hold(byte(c));
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
      take_value(byte(b), out);
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
  if (shown_.is_opening()) shown_.text(bytes);
  if (!grammar_->value_newline.empty()) {
    const bool leads = fresh_value_ && bytes[0] == '\n';
    fresh_value_ = false;
    if (leads) bytes.remove_prefix(1);
    if (bytes.empty()) return;
    if (newline_) value_.push("\n", json_);
    newline_ = bytes.back() == '\n';
    if (newline_) bytes.remove_suffix(1);
  }
  fresh_value_ = false;
  value_.push(bytes, json_);
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
  json_.push_back(parameters_++ == 0 ? '{' : ',');
  json::append_string(json_, name);
  json_.push_back(':');
  place_ = schema_.member(name);
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

void TaggedCalls::begin_value() {
  at_ = At::value;
  fresh_value_ = true;
  newline_ = false;
  shown_.begin(*grammar_);
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

void TaggedCalls::end_value() {
  newline_ = false;
  broken_ = !value_.end(json_) || broken_;
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

void TaggedCalls::finish(Output& out) {
  CallOutcome outcome = CallOutcome::truncated;
  const bool more_was_coming = is_prefix_of_parameter();
  switch (at_) {
    case At::lead:
    case At::call_name:
      finish_lead(out);
      return;
    case At::call_text:
      begin_call(out);
      [[fallthrough]];
    case At::body:
      if (parameters_ > 0 ? !more_was_coming : is_beginning_of_close()) {
        outcome = CallOutcome::complete;
      }
      break;
    case At::key:
      out.hold(name_.end_so_far());
      break;
    case At::value:
    case At::raw_value:
      if (newline_) value_.push("\n", json_);
      value_.cut(json_);
      break;
    case At::apart_key:
      end_value();
      break;
    case At::after_apart:
      end_value();
      if (!more_was_coming || section_closed_) outcome = CallOutcome::complete;
      break;
    case At::after_value:
      end_value();
      if (!more_was_coming) outcome = CallOutcome::complete;
      break;
    case At::after_missing:
    case At::after_shown:
      end_value();
      outcome = CallOutcome::complete;
      break;
    case At::json:
      value_.cut(json_);
      break;
    case At::after_json:
      outcome = CallOutcome::complete;
      break;
    case At::before_value:
      break;
  }
  out.hold(pending_);
  out.hold(partial_);
  pending_.clear();
  end_call(outcome, out);
}

bool TaggedCalls::overflow(Output& out) {
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

void TaggedCalls::open_named(std::string_view name, Output& out) {
  open(0, out);
  at_ = At::call_text;
  name_.be(grammar_->call, name);
}

std::unique_ptr<DialectParser> make_tagged_parser(const Prose& prose,
                                                  std::span<const TaggedGrammar> grammars,
                                                  const DialectOptions& options) {
  return make_turn_parser(prose, std::make_unique<TaggedCalls>(grammars, prose.call_open, options),
                          options);
}

}  // namespace callgate::dialect
