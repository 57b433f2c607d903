#include "dialect/tagged_arguments.h"

#include <algorithm>
#include <cstring>

#include "dialect/plain_run.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxName = 512;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 || std::string_view("_-.:/@$").find(c) < 7;
}

std::string_view byte(const char& c) { return {&c, 1}; }

// A name as it stands in a tag, perhaps quoted.
std::string_view bare_name(std::string_view name) {
  name = trimmed(name);
  if (name.size() >= 2 && name.front() == name.back() &&
      (name.front() == '"' || name.front() == '\'')) {
    name = name.substr(1, name.size() - 2);
  }
  return name;
}

}  // namespace

TaggedCalls::TaggedCalls(std::span<const TaggedGrammar> grammars, std::span<const Opener> openers,
                         const DialectOptions& options)
    : grammars_(grammars),
      openers_(openers),
      schemas_(options.tools),
      limit_(std::max<std::size_t>(options.max_held_back, 1)) {}

void TaggedCalls::add(std::vector<Token>& tokens, std::span<const std::string_view> texts,
                      Kind kind) {
  for (const std::string_view text : texts) {
    if (!text.empty()) tokens.push_back({text, kind});
  }
}

void TaggedCalls::use_grammar(const TaggedGrammar& grammar) {
  if (grammar_ == &grammar) return;
  grammar_ = &grammar;
  const auto one = [](const std::string_view& text) {
    return std::span<const std::string_view>(&text, 1);
  };
  const auto add_outside = [&](std::vector<Token>& tokens) {
    add(tokens, grammar.lead, Kind::outside);
    add(tokens, one(grammar.call.open), Kind::outside);
    add(tokens, grammar.tail, Kind::outside);
  };
  lead_tokens_.clear();
  add(lead_tokens_, grammar.lead, Kind::lead);
  add(lead_tokens_, one(grammar.call.open), Kind::call_open);
  add(lead_tokens_, grammar.section_close, Kind::outside);
  body_tokens_.clear();
  add(body_tokens_, one(grammar.parameter.open), Kind::parameter_open);
  add(body_tokens_, one(grammar.call_close), Kind::call_close);
  add(body_tokens_, one(grammar.value_close), Kind::value_close);
  add(body_tokens_, grammar.filler, Kind::filler);
  add(body_tokens_, grammar.section_close, Kind::outside);
  add_outside(body_tokens_);
  before_value_tokens_.clear();
  add(before_value_tokens_, one(grammar.value_open), Kind::value_open);
  value_tokens_.clear();
  add(value_tokens_, one(grammar.value_close), Kind::value_close);
  add(value_tokens_, one(grammar.call_close), Kind::call_close);
  add(value_tokens_, grammar.section_close, Kind::section_close);
  add(value_tokens_, one(grammar.raw_open), Kind::raw_open);
  raw_tokens_.clear();
  add(raw_tokens_, one(grammar.raw_close), Kind::raw_close);
  missing_tokens_.clear();
  add(missing_tokens_, grammar.section_close, Kind::section_close);
  add_outside(missing_tokens_);
  stop_ = grammar.value_close[0];
}

const std::vector<TaggedCalls::Token>& TaggedCalls::tokens() const {
  switch (at_) {
    case At::lead:
      return lead_tokens_;
    case At::before_value:
      return before_value_tokens_;
    case At::value:
      return value_tokens_;
    case At::raw_value:
      return raw_tokens_;
    case At::after_missing:
      return missing_tokens_;
    case At::call_name:
    case At::call_text:
    case At::body:
    case At::key:
    case At::after_value:
    case At::json:
    case At::after_json:
      break;
  }
  return body_tokens_;
}

TaggedCalls::Match TaggedCalls::match(const Token*& found) const {
  Match best = Match::none;
  for (const Token& token : tokens()) {
    if (!token.text.starts_with(partial_)) continue;
    best = Match::partial;
    if (token.text.size() != partial_.size()) continue;
    found = &token;
    return Match::whole;
  }
  return best;
}

std::string_view TaggedCalls::static_partial() const {
  for (const Token& token : tokens()) {
    if (token.text.starts_with(partial_)) return token.text.substr(0, partial_.size());
  }
  return {};
}

void TaggedCalls::open(std::size_t opener, Output& out) {
  use_grammar(grammars_[grammars_.size() == 1 ? 0 : opener]);
  at_ = At::lead;
  step_ = {};
  json_.clear();
  parameters_ = 0;
  whole_json_ = false;
  broken_ = false;
  last_lead_ = {};
  partial_ = openers_[opener].text;
  handed_ = partial_.size();
  const Token* found = nullptr;
  if (match(found) == Match::whole) take_token(*found, out);
}

Step TaggedCalls::push(std::string_view bytes, Output& out) {
  if (at_ == At::value && partial_.empty() && !newline_ && !fresh_value_ && value_.streams() &&
      is_plain_push(bytes)) [[likely]] {
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
  return read_token(c, out);
}

bool TaggedCalls::read_name(char c, Output& out) {
  switch (tag_->style) {
    case NameTag::Style::equals:
      if (c == '<' || c == '\n' || name_.size() >= kMaxName) return bad_name(out);
      out.hold(byte(c));
      if (c == '>') return end_name(bare_name(name_), false, out);
      name_.push_back(c);
      return true;
    case NameTag::Style::attribute:
      return read_attributes(c, out);
    case NameTag::Style::text:
      return read_text_name(c, out);
  }
  return true;
}

bool TaggedCalls::read_attributes(char c, Output& out) {
  const std::size_t matched = attributes_.matched();
  const bool begins = attributes_.text().empty() && matched == 0;
  const std::string_view replay = tag_->end.substr(0, matched);
  if (begins && !is_space(c) && c != '/' && c != tag_->end[0]) return bad_name(out);
  switch (attributes_.push(c)) {
    case AttributeScan::State::failed:
      return bad_name(out, replay);
    case AttributeScan::State::open:
      if (attributes_.matched() == 0) out.hold(byte(c));
      return true;
    case AttributeScan::State::closed:
      break;
  }
  out.hold(tag_->end);
  std::string_view text = attributes_.text();
  const bool self_closing = text.ends_with('/');
  if (self_closing) text.remove_suffix(1);
  if (at_ == At::key && !grammar_->type_attribute.empty()) {
    type_ = attribute(text, grammar_->type_attribute).value_or("");
  }
  name_ = attribute(text, tag_->key).value_or("");
  return end_name(trimmed(name_), self_closing, out);
}

bool TaggedCalls::read_text_name(char c, Output& out) {
  const std::string_view end = tag_->end;
  if (end.empty()) {  // a call's name: up to the next marker or white space
    if (name_.empty() && is_space(c)) {
      out.hold(byte(c));
    } else if (is_name_byte(c) && name_.size() < kMaxName) {
      name_.push_back(c);
      out.hold(byte(c));
    } else if (!name_.empty() && (c == '<' || is_space(c))) {
      at_ = At::call_text;
      return read_token(c, out);
    } else {
      return bad_name(out);
    }
    return true;
  }
  if (c == end[matched_]) {
    if (++matched_ < end.size()) return true;
    out.hold(end);
    return end_name(trimmed(name_), false, out);
  }
  if (matched_ > 0 || c == '<' || name_.size() >= kMaxName) {
    return bad_name(out, end.substr(0, matched_));
  }
  name_.push_back(c);
  out.hold(byte(c));
  return true;
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
  const Token* found = nullptr;
  const bool waits = at_ == At::after_value || at_ == At::after_missing;
  switch (waits && is_apart() ? Match::none : match(found)) {
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

// Markers stand side by side or on lines of their own. Apart by blanks only, they are words of a text.
bool TaggedCalls::is_apart() const {
  const std::size_t last = pending_.find_last_not_of(" \t\r\n");
  const std::string_view space = std::string_view(pending_).substr(last + 1);
  return !space.empty() && space.find('\n') == std::string_view::npos;
}

bool TaggedCalls::read_space(char c, Output& out) {
  if (at_ != At::after_value && at_ != At::after_missing) {
    out.hold(byte(c));
    return true;
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
        return end_call(CallOutcome::complete, out, static_partial());
      }
      [[fallthrough]];
    case At::after_value: {
      const std::string pending = std::move(pending_);
      const std::string partial = std::move(partial_);
      at_ = At::value;
      return back_to_value(pending, partial, c, out);
    }
    case At::body:
    case At::before_value:
    case At::after_json:
      byte_used_ = false;
      return end_call(CallOutcome::malformed, out, static_partial());
    case At::lead:
    case At::call_text:
      byte_used_ = false;
      return reject(static_partial().substr(handed_));
    case At::call_name:
    case At::key:
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

bool TaggedCalls::take_token(const Token& token, Output& out) {
  const std::size_t handed = handed_;
  handed_ = 0;
  partial_.clear();
  switch (at_) {
    case At::lead:
      if (token.kind == Kind::outside) {  // a section without calls
        out.drop_held();
        step_ = {.next = Step::Next::closed, .replay = token.text};
        return false;
      }
      if (token.text == last_lead_) return reject(token.text);  // written twice: the first is text
      last_lead_ = token.text;
      out.hold(token.text.substr(handed));
      if (token.kind == Kind::call_open) begin_name(At::call_name, grammar_->call);
      return true;
    case At::call_text:
      if (token.kind == Kind::filler) {
        out.hold(token.text);
        return true;
      }
      begin_call(name_, out);
      [[fallthrough]];
    case At::body:
    case At::after_json:
      return take_in_body(token, out);
    case At::before_value:
      out.hold(token.text);
      begin_value();
      return true;
    case At::value:
    case At::raw_value:
      return take_in_value(token, out);
    case At::after_value:
    case At::after_missing:
      return take_after_value(token, out);
    case At::call_name:
    case At::key:
    case At::json:
      break;
  }
  return true;
}

bool TaggedCalls::take_in_body(const Token& token, Output& out) {
  switch (token.kind) {
    case Kind::parameter_open:
      out.hold(token.text);
      if (at_ == At::after_json) return end_call(CallOutcome::malformed, out);
      begin_name(At::key, grammar_->parameter);
      return true;
    case Kind::call_close:
      out.hold(token.text);
      return end_call(CallOutcome::complete, out);
    case Kind::value_close:
    case Kind::filler:
      out.hold(token.text);
      return true;
    case Kind::outside:
      return end_call(CallOutcome::complete, out, token.text);
    case Kind::lead:
    case Kind::call_open:
    case Kind::value_open:
    case Kind::raw_open:
    case Kind::raw_close:
    case Kind::section_close:
      break;
  }
  return true;
}

bool TaggedCalls::take_in_value(const Token& token, Output& out) {
  switch (token.kind) {
    case Kind::value_close:
      pending_ = token.text;
      at_ = At::after_value;
      return true;
    case Kind::call_close:
    case Kind::section_close:
      section_closed_ = token.kind == Kind::section_close;
      pending_ = token.text;
      at_ = At::after_missing;
      return true;
    case Kind::raw_open:
      if (fresh_value_) {
        out.argument_bytes(token.text);
        at_ = At::raw_value;
      } else {
        take_value(token.text, out);
      }
      return true;
    case Kind::raw_close:
      out.argument_bytes(token.text);
      at_ = At::value;
      fresh_value_ = false;
      return true;
    case Kind::lead:
    case Kind::call_open:
    case Kind::parameter_open:
    case Kind::value_open:
    case Kind::filler:
    case Kind::outside:
      break;
  }
  return true;
}

bool TaggedCalls::take_after_value(const Token& token, Output& out) {
  if (token.kind == Kind::value_close || token.kind == Kind::filler ||
      token.kind == Kind::section_close) {
    section_closed_ = token.kind == Kind::section_close;
    pending_ += token.text;
    return true;
  }
  end_value();
  out.hold(pending_);
  pending_.clear();
  at_ = At::body;
  return take_in_body(token, out);
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
  tag_ = &tag;
  name_.clear();
  type_.clear();
  matched_ = 0;
  if (tag.style == NameTag::Style::attribute) attributes_.begin(tag.end);
}

bool TaggedCalls::bad_name(Output& out, std::string_view replay) {
  byte_used_ = false;
  if (at_ == At::key) return end_call(CallOutcome::malformed, out, replay);
  return reject(replay);
}

bool TaggedCalls::end_name(std::string_view name, bool self_closing, Output& out) {
  const bool is_call = at_ == At::call_name;
  if (name.empty()) {
    if (!is_call) return end_call(CallOutcome::malformed, out);
    return reject({});
  }
  if (is_call) {
    name_ = std::string(name);
    at_ = At::call_text;
    if (!self_closing) return true;
    begin_call(name_, out);
    return end_call(CallOutcome::complete, out);
  }
  json_.push_back(parameters_++ == 0 ? '{' : ',');
  json::append_string(json_, name);
  json_.push_back(':');
  place_ = schema_.member(name);
  if (!grammar_->value_open.empty()) {
    at_ = At::before_value;
    return true;
  }
  begin_value();
  if (self_closing) {
    end_value();
    at_ = At::body;
  }
  return true;
}

void TaggedCalls::begin_call(std::string_view name, Output& out) {
  schema_ = schemas_.arguments_of(name);
  out.start_call(name);
  at_ = At::body;
}

void TaggedCalls::begin_json(Output& out) {
  if (at_ == At::call_text) begin_call(name_, out);
  whole_json_ = true;
  scanner_.reset();
  value_.begin({ValueKind::object}, limit_, json_);
  at_ = At::json;
}

void TaggedCalls::begin_value() {
  at_ = At::value;
  fresh_value_ = true;
  newline_ = false;
  if (type_ == "false") {
    value_.begin_json(limit_, json_);
    return;
  }
  KindSet kinds = type_ == "true" ? KindSet{ValueKind::string} : kinds_of_type_name(type_);
  if (kinds.empty()) kinds = place_.kinds();
  value_.begin(kinds, limit_, json_);
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

void TaggedCalls::finish(Output& out) {
  CallOutcome outcome = CallOutcome::truncated;
  const bool more_was_coming = is_prefix_of_parameter();
  switch (at_) {
    case At::lead:
    case At::call_name:
      finish_lead(out);
      return;
    case At::call_text: {
      const std::string name = name_;
      begin_call(name, out);
      break;
    }
    case At::key:
      out.hold(tag_->end.substr(0, matched_ + attributes_.matched()));
      break;
    case At::body:
      if (!more_was_coming && (parameters_ > 0 || !partial_.empty())) {
        outcome = CallOutcome::complete;
      }
      break;
    case At::value:
    case At::raw_value:
      if (newline_) value_.push("\n", json_);
      value_.cut(json_);
      break;
    case At::after_value:
      end_value();
      if (!more_was_coming) outcome = CallOutcome::complete;
      break;
    case At::after_missing:
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
  if (at_ == At::call_name && tag_->style == NameTag::Style::attribute) {
    out.hold(tag_->end.substr(0, attributes_.matched()));
  } else if (at_ != At::call_name) {
    out.hold(std::string_view(partial_).substr(handed_));
  }
  partial_.clear();
}

std::unique_ptr<DialectParser> make_tagged_parser(const Prose& prose,
                                                  std::span<const TaggedGrammar> grammars,
                                                  const DialectOptions& options) {
  return make_turn_parser(prose, std::make_unique<TaggedCalls>(grammars, prose.call_open, options),
                          options);
}

}  // namespace callgate::dialect
