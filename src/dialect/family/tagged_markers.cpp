// What each marker does to a tagged call, by the place where it stands.
#include <algorithm>

#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect {
namespace {

// `text`, which stands behind the opener of a tag, goes on to the tag's end and no further.
bool is_rest_of_tag(const NameTag& tag, std::string_view text) {
  if (!text.ends_with(tag.end)) return false;
  if (tag.style != NameTag::Style::attribute) {
    return text.substr(0, text.size() - tag.end.size()).find('<') == std::string_view::npos;
  }
  AttributeScan scan;
  scan.begin(tag.end);
  AttributeScan::State state = AttributeScan::State::open;
  for (const char c : text) {
    if (state != AttributeScan::State::open) return false;
    state = scan.push(c);
  }
  return is_space(text[0]) && state == AttributeScan::State::closed;
}

bool is_in(std::span<const std::string_view> list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

constexpr std::size_t kMaxMarkerTag = 256;

}  // namespace

bool TaggedCalls::take_token(const TagToken& token, Output& out) {
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
      if (token.kind == Kind::filler || token.kind == Kind::value_close) {
        stray_close_ = stray_close_ || token.kind == Kind::value_close;
        out.hold(token.text);
        return true;
      }
      begin_call(out);
      [[fallthrough]];
    case At::body:
    case At::after_json:
      return take_in_body(token, out);
    case At::before_value:
      out.hold(token.text);
      if (token.kind == Kind::filler) return true;
      begin_value();
      return true;
    case At::value:
    case At::raw_value:
      return take_in_value(token, out);
    case At::after_value:
    case At::after_missing:
      return shown_.any() ? take_after_shown(token, out) : take_after_value(token, out);
    case At::after_shown:
      return take_behind_shown(token, out);
    case At::after_apart:
      return take_apart(token, out);
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

bool TaggedCalls::take_in_body(const TagToken& token, Output& out) {
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
    case Kind::outside: {
      if (token.text == grammar_->call.open && is_bare_name() && at_ != At::after_json) {
        pending_ = token.text;
        at_ = At::maybe_key;
        return true;
      }
      const bool ends_turn = is_in(grammar_->tail, token.text);
      const bool lacks = ends_turn && at_ != At::after_json && seen_.lack(schema_);
      return end_call(lacks ? CallOutcome::truncated : CallOutcome::complete, out, token.text);
    }
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

bool TaggedCalls::take_in_value(const TagToken& token, Output& out) {
  switch (token.kind) {
    case Kind::value_close:
      pending_ = token.text;
      at_ = At::after_value;
      return true;
    case Kind::call_close:
    case Kind::section_close:
      section_closed_ = token.kind == Kind::section_close;
      pending_ = token.text;
      at_ = shown_.any() && !section_closed_ ? At::after_shown : At::after_missing;
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
    case Kind::call_open:
      take_value(token.text, out);
      shown_.call_opener();
      return true;
    case Kind::parameter_open:
      shown_.argument_opener();
      if (shown_.any() || !may_begin_parameter()) {
        take_value(token.text, out);
        return true;
      }
      tag_from_ = 0;
      pending_ = token.text;
      at_ = At::apart_key;
      return true;
    case Kind::lead:
    case Kind::value_open:
    case Kind::filler:
    case Kind::outside:
      break;
  }
  return true;
}

// The value shows a call that is still open: only the close of a call may be more than data.
bool TaggedCalls::take_after_shown(const TagToken& token, Output& out) {
  if (token.kind != Kind::parameter_open) {
    pending_ += token.text;
    const bool closes = token.kind == Kind::call_close || token.kind == Kind::outside ||
                        token.kind == Kind::section_close;
    if (closes) at_ = At::after_shown;
    return true;
  }
  at_ = At::value;
  take_value(pending_, out);
  pending_.clear();
  take_value(token.text, out);
  return true;
}

// Only the end of the turn says that a call which closes here was more than shown.
bool TaggedCalls::take_behind_shown(const TagToken& token, Output& out) {
  if (is_in(grammar_->tail, token.text)) return take_after_value(token, out);
  pending_ += token.text;
  if (token.kind == Kind::section_close) return true;
  shown_.close();
  at_ = At::value;
  take_value(pending_, out);
  pending_.clear();
  if (token.text == grammar_->call.open) shown_.call_opener();
  return true;
}

bool TaggedCalls::take_apart(const TagToken& token, Output& out) {
  const bool closes = token.kind == Kind::call_close ||
                      is_in(grammar_->section_close, token.text) ||
                      is_in(grammar_->tail, token.text);
  if (closes || token.kind == Kind::value_close || token.kind == Kind::filler) {
    section_closed_ = section_closed_ || closes;
    pending_ += token.text;
    return true;
  }
  if (token.kind == Kind::parameter_open && !section_closed_) {
    tag_from_ = pending_.size();
    pending_ += token.text;
    at_ = At::apart_key;
    return true;
  }
  at_ = At::value;
  pending_ += token.text;
  take_value(pending_, out);
  pending_.clear();
  if (token.text == grammar_->call.open) shown_.call_opener();
  return true;
}

// In a value that was not closed: the opener of a parameter stands at the start of a line or right behind the value. A
// blank or a quote before it says that a text mentions it.
bool TaggedCalls::may_begin_parameter() const {
  if (seen_.many()) return false;
  if (schema_.member_name(0).empty()) return last_ == '\n';
  return std::string_view(" \t\"'`([").find(last_) == std::string_view::npos;
}

bool TaggedCalls::begins_parameter(std::string_view name) const {
  const bool behind_close = tag_from_ > 0;
  if (!behind_close && seen_.has(name)) return false;
  if (!behind_close && schema_.member_name(0).empty()) return true;
  return !schema_.member(name).is_nothing();
}

// <tool_call>bash<tool_call>command</arg_key>: the second opener is meant to be that of a key.
bool TaggedCalls::read_maybe_key(char c, Output& out) {
  const NameTag& tag = grammar_->parameter;
  const std::string_view open = grammar_->call.open;
  pending_.push_back(c);
  const std::string_view text = std::string_view(pending_).substr(open.size());
  const std::size_t end = std::min(text.find(tag.end[0]), text.size());
  const bool fits = tag.end.starts_with(text.substr(end)) && end > 0 && c != '\n';
  if (!fits || text.size() > kMaxMarkerTag) {
    pending_.pop_back();
    byte_used_ = false;
    replay_.swap(pending_);
    pending_.clear();
    return end_call(CallOutcome::complete, out, replay_);
  }
  if (text.size() - end < tag.end.size()) return true;
  out.hold(open);
  begin_name(At::key, tag);
  std::string pending;
  pending.swap(pending_);
  for (const char b : std::string_view(pending).substr(open.size())) read(b, out);
  return true;
}

// The tag is that of a parameter when the tool has one of this name, else it is data.
bool TaggedCalls::read_apart_key(char c, Output& out) {
  const NameTag& tag = grammar_->parameter;
  pending_.push_back(c);
  std::string pending = std::move(pending_);
  pending_.clear();
  const std::string_view text = std::string_view(pending).substr(tag_from_ + tag.open.size());
  const bool whole = is_rest_of_tag(tag, text);
  if (!whole && c != '\n' && text.size() < kMaxMarkerTag && pending.size() < limit_) {
    pending_ = std::move(pending);
    return true;
  }
  const std::string_view inside = text.substr(0, whole ? text.size() - tag.end.size() : 0);
  const std::string name = tag.style == NameTag::Style::attribute
                               ? attribute(inside, tag.key).value_or(std::string())
                               : std::string(trimmed(inside));
  if (name.empty() || !begins_parameter(name)) {
    at_ = At::value;
    return back_to_value(std::string_view(pending).substr(0, pending.size() - 1), {}, c, out);
  }
  end_value(tag_from_ > 0);
  out.hold(std::string_view(pending).substr(0, tag_from_ + tag.open.size()));
  begin_name(At::key, tag);
  for (const char b : text) read(b, out);
  return true;
}

bool TaggedCalls::take_after_value(const TagToken& token, Output& out) {
  if (token.kind == Kind::value_close || token.kind == Kind::filler ||
      token.kind == Kind::section_close) {
    section_closed_ = token.kind == Kind::section_close;
    pending_ += token.text;
    return true;
  }
  end_value();
  out.hold(pending_);
  pending_.clear();
  if (at_ != At::after_value && token.kind == Kind::outside) {  // the call was closed before
    return end_call(CallOutcome::complete, out, token.text);
  }
  at_ = At::body;
  return take_in_body(token, out);
}

}  // namespace callgate::dialect
