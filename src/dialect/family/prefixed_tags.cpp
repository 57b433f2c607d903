#include "dialect/family/prefixed_tags.h"

#include <algorithm>

#include "base/text.h"
#include "dialect/family/tag_attributes.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxPrefixedTag = 512;

bool is_plain_name(std::string_view tag) {
  return !tag.empty() && std::all_of(tag.begin(), tag.end(), is_tag_name_byte);
}

}  // namespace

void PrefixedTags::open(std::size_t opener, Output& out) {
  at_ = At::lead;
  step_ = {};
  json_.clear();
  marker_ = openers_[opener].text;
  handed_ = marker_.size();
  if (!marker_.ends_with('>')) return;
  const std::string tag = marker_.substr(grammar_.prefix.size() + 1);
  take_tag(std::string_view(tag).substr(0, tag.size() - 1), out);
}

Step PrefixedTags::push(std::string_view bytes, Output& out) {
  step_ = {};
  std::size_t i = 0;
  while (i < bytes.size() && step_.next == Step::Next::more &&
         (out.call_open() || out.held_size() < limit_)) {
    if (marker_.empty()) {
      i += read_text(bytes.substr(i), out);
    } else {
      byte_used_ = true;
      read_marker(bytes[i], out);
      i += byte_used_ ? 1 : 0;
    }
  }
  if (!json_.empty() && out.call_open()) {
    out.arguments(json_);
    json_.clear();
  }
  if (at_ == At::value && marker_.empty() && value_.streams())
    out.expect_plain(Output::Plain::value);
  step_.used = i;
  return step_;
}

std::size_t PrefixedTags::read_text(std::string_view bytes, Output& out) {
  const std::size_t run = std::min(bytes.find(grammar_.prefix[0]), bytes.size());
  if (at_ == At::lead || at_ == At::body) {
    const std::string_view text = bytes.substr(0, run);
    const auto odd = std::find_if_not(text.begin(), text.end(), is_space);
    const auto blank = static_cast<std::size_t>(odd - text.begin());
    out.hold(text.substr(0, blank));
    if (blank < run) {
      if (at_ == At::body && text[blank] == '<') {
        raw_.clear();
        at_ = At::plain;
      } else if (at_ == At::lead) {
        expected_call(Found::rest(text.substr(blank)), out);
        step_.next = Step::Next::rejected;
      } else {
        end_call(CallOutcome::malformed, out);
      }
      return blank;
    }
  } else if (run > 0) {
    take_text(bytes.substr(0, run), out);
  }
  if (run == bytes.size()) return run;
  marker_.assign(1, grammar_.prefix[0]);
  return run + 1;
}

// One more byte behind the beginning of the prefix.
bool PrefixedTags::read_marker(char c, Output& out) {
  const std::size_t prefix = grammar_.prefix.size();
  const std::size_t size = marker_.size();
  const bool fits = size < prefix    ? c == grammar_.prefix[size]
                    : size == prefix ? c == '<'
                                     : c != '<' && c != '\n' && size < prefix + kMaxPrefixedTag;
  if (!fits) {
    no_marker(c, out);
    return false;
  }
  marker_.push_back(c);
  if (size > prefix && c == '>') {
    const std::string tag = marker_.substr(prefix + 1, size - prefix - 1);
    take_tag(tag, out);
  }
  return true;
}

// What looked like a tag is not one.
void PrefixedTags::no_marker(char c, Output& out) {
  std::string marker;
  marker.swap(marker_);
  if (at_ == At::lead || at_ == At::body) {
    // The beginning of a prefix may begin an opener; the text of a tag cannot.
    std::string_view replay;
    if (marker.size() <= grammar_.prefix.size()) {
      replay = grammar_.prefix.substr(0, marker.size());
    } else {
      out.hold(std::string_view(marker).substr(handed_));
    }
    byte_used_ = false;
    if (at_ == At::body) return end_call(CallOutcome::malformed, out, replay);
    expected_call(Found::rest(replay.empty() ? std::string_view(&c, 1) : replay), out);
    step_ = {.next = Step::Next::rejected, .replay = replay};
    return;
  }
  // In a value it is text, up to where a prefix may begin anew.
  take_text(std::string_view(marker).substr(0, 1), out);
  const auto look = [&](char b) {
    if (!marker_.empty()) {
      read_marker(b, out);
    } else if (b == grammar_.prefix[0]) {
      marker_.assign(1, b);
    } else {
      take_text(std::string_view(&b, 1), out);
    }
  };
  for (const char b : std::string_view(marker).substr(1)) look(b);
  look(c);
  byte_used_ = true;
}

// Costs nothing where nobody asks.
void PrefixedTags::expected_call(const Found& found, Output& out) const {
  if (out.doubt() == nullptr) return;
  out.expected(std::string(grammar_.prefix).append("<").append(grammar_.call), found);
}

void PrefixedTags::take_text(std::string_view text, Output& out) {
  out.argument_bytes(text);
  switch (at_) {
    case At::blank:
      raw_ += text;
      if (is_blank(text)) return;
      value_.begin(kinds_, limit_, json_);
      value_.push(raw_, json_);
      at_ = At::value;
      return;
    case At::value:
      value_.push(text, json_);
      return;
    case At::container:
    case At::plain:
      raw_ += text;
      return;
    case At::lead:
    case At::body:
      return;
  }
}

bool PrefixedTags::is_call_tag(std::string_view tag) const {
  return tag.starts_with(grammar_.call) && tag.size() > grammar_.call.size() &&
         is_space(tag[grammar_.call.size()]);
}

void PrefixedTags::take_tag(std::string_view tag, Output& out) {
  switch (at_) {
    case At::lead:
      if (tag.starts_with('/') && tag.substr(1) == grammar_.section) {
        marker_.clear();
        out.drop_held();
        step_ = {.next = Step::Next::closed, .replay = grammar_.section_close};
        return;
      }
      out.hold(std::string_view(marker_).substr(handed_));
      handed_ = 0;
      marker_.clear();
      if (is_call_tag(tag)) return begin_call(tag, out);
      if (tag == grammar_.section) return;
      expected_call(Found::word(tag), out);
      step_.next = Step::Next::rejected;
      return;
    case At::body:
      return take_tag_in_body(tag, out);
    case At::blank:
    case At::value:
      return take_tag_in_value(tag, out);
    case At::container:
      return take_tag_in_container(tag, out);
    case At::plain:
      return take_tag_in_plain(tag, out);
  }
}

// The prefix came back: with a tag of the call or the section, or with one of an argument.
void PrefixedTags::take_tag_in_plain(std::string_view tag, Output& out) {
  if (!is_own_close(tag) && !is_call_tag(tag)) {
    out.argument_bytes(marker_);
    marker_.clear();
    raw_.append("<").append(tag).push_back('>');
    return;
  }
  if (!append_elements(raw_, {})) broken_ = true;
  at_ = At::body;
  take_tag_in_body(tag, out);
}

// Of the call or the section.
bool PrefixedTags::is_own_close(std::string_view tag) const {
  return tag.starts_with('/') &&
         (tag.substr(1) == grammar_.call || tag.substr(1) == grammar_.section);
}

void PrefixedTags::take_tag_in_body(std::string_view tag, Output& out) {
  if (tag.starts_with('/') && tag.substr(1) == grammar_.section) {
    marker_.clear();
    return end_call(CallOutcome::complete, out, grammar_.section_close);
  }
  out.hold(marker_);
  marker_.clear();
  if (tag.starts_with('/')) {
    if (tag.substr(1) == grammar_.call) end_call(CallOutcome::complete, out);
  } else if (is_call_tag(tag)) {
    end_call(CallOutcome::complete, out);
    step_ = {};
    begin_call(tag, out);
  } else if (is_plain_name(tag)) {
    begin_value(tag);
  } else {
    end_call(CallOutcome::malformed, out);
  }
}

// A whole call inside a text is part of it, up to its close tags.
bool PrefixedTags::is_shown(std::string_view tag) {
  const bool opens = tag == grammar_.section || is_call_tag(tag);
  const bool closes = is_own_close(tag);
  const bool inside = shown_ > 0;
  if (opens) ++shown_;
  if (closes && inside) --shown_;
  return opens || inside;
}

void PrefixedTags::take_tag_in_value(std::string_view tag, Output& out) {
  if (at_ == At::value && is_shown(tag)) {
    const std::string marker = std::move(marker_);
    marker_.clear();
    take_text(marker, out);
    return;
  }
  const bool own_close = tag.starts_with('/') && tag.substr(1) == key_;
  const bool call_close = is_own_close(tag);
  const bool next_argument = at_ == At::value && is_plain_name(tag) &&
                             !schema_.member(tag).is_nothing() && !seen_.many() && !seen_.has(tag);
  if (own_close || call_close || next_argument) {
    end_value();
    at_ = At::body;
    if (!own_close) return take_tag_in_body(tag, out);
    out.hold(marker_);
    marker_.clear();
    return;
  }
  const std::string marker = std::move(marker_);
  marker_.clear();
  const bool may_nest = at_ == At::blank && is_plain_name(tag);
  if (!may_nest) return take_text(marker, out);
  at_ = At::container;
  depth_ = 1;
  take_text(marker, out);
}

void PrefixedTags::take_tag_in_container(std::string_view tag, Output& out) {
  const bool closes = tag.starts_with('/');
  if (closes && depth_ == 0) {
    end_container();
    at_ = At::body;
    if (tag.substr(1) != key_) return take_tag_in_body(tag, out);
    out.hold(marker_);
    marker_.clear();
    return;
  }
  if (!tag.ends_with('/')) depth_ += closes ? -1 : 1;
  const std::string marker = std::move(marker_);
  marker_.clear();
  take_text(marker, out);
}

void PrefixedTags::begin_call(std::string_view tag, Output& out) {
  const std::string given =
      attribute(tag.substr(grammar_.call.size()), "name").value_or(std::string());
  const std::string_view name = trimmed(given);
  if (name.empty()) {
    out.expected("the name of a tool in the tag", Found::word(tag));
    step_.next = Step::Next::rejected;
    return;
  }
  schema_ = schemas_.arguments_of(name);
  arguments_ = 0;
  seen_.clear();
  broken_ = false;
  out.start_call(name);
  at_ = At::body;
}

void PrefixedTags::begin_value(std::string_view key) {
  key_ = key;
  seen_.add(key);
  place_ = schema_.member(key);
  kinds_ = place_.kinds();
  raw_.clear();
  shown_ = 0;
  depth_ = 0;
  wraps_ = arguments_ == 0 && schema_.is_wrapped_by(key);
  at_ = At::container;
  if (wraps_) return;
  write_key();
  at_ = At::blank;
  if (!kinds_.has(ValueKind::string)) return;
  value_.begin(kinds_, limit_, json_);
  at_ = At::value;
}

void PrefixedTags::write_key() {
  json_.push_back(arguments_++ == 0 ? '{' : ',');
  json::append_string(json_, key_);
  json_.push_back(':');
}

void PrefixedTags::end_container() {
  if (wraps_ && append_wrapped()) return;
  if (wraps_) write_key();
  append_element(json_, raw_, grammar_.prefix, place_);
}

// The members of a wrapper are the arguments. False: it holds something else.
bool PrefixedTags::append_wrapped() {
  std::string object;
  append_typed(object, raw_, {ValueKind::object});
  if (object[0] != '{') return append_elements(raw_, grammar_.prefix);
  if (!schema_.knows_members_of(object)) return false;
  json::Reader in(object);
  for (std::string_view key; in.next_member(key); in.skip()) {
    seen_.add(key);
    ++arguments_;
  }
  object.pop_back();
  if (arguments_ > 0) json_ += object;
  return true;
}

// False: it is not a list of elements.
bool PrefixedTags::append_elements(std::string_view text, std::string_view prefix) {
  std::vector<TagElement> elements;
  if (!read_elements(text, prefix, schema_, elements) || elements.empty()) return false;
  std::string object;
  append_members(object, elements, prefix, schema_);
  object.pop_back();
  if (arguments_ > 0) object[0] = ',';
  for (const TagElement& element : elements) seen_.add(element.name);
  arguments_ += elements.size();
  json_ += object;
  return true;
}

void PrefixedTags::end_value() {
  if (at_ == At::blank) {
    append_raw_value(json_, raw_, kinds_);
  } else {
    broken_ = !value_.end(json_) || broken_;
  }
}

void PrefixedTags::end_call(CallOutcome outcome, Output& out, std::string_view replay) {
  if (outcome == CallOutcome::complete) json_ += arguments_ == 0 ? "{}" : "}";
  if (outcome == CallOutcome::complete && broken_) outcome = CallOutcome::malformed;
  out.arguments(json_);
  json_.clear();
  const bool left = out.finish_call(outcome);
  const bool closed = left && outcome == CallOutcome::complete;
  step_ = {.next = closed ? Step::Next::closed : Step::Next::rejected, .replay = replay};
}

bool PrefixedTags::overflow(Output& out) {
  out.hold(std::string_view(marker_).substr(handed_));
  return false;
}

void PrefixedTags::finish(Output& out) {
  if (at_ == At::lead) {
    overflow(out);
    expected_call({.extent = Found::Extent::end}, out);
    return;
  }
  if (at_ == At::plain && append_elements(raw_, {})) at_ = At::body;
  const bool whole = at_ == At::body && marker_.size() <= grammar_.prefix.size() &&
                     arguments_ > 0 && !out.is_cut_off() && !seen_.lack(schema_);
  switch (at_) {
    case At::blank:
    case At::container:
      if (wraps_ && at_ == At::container) write_key();
      append_clean_json(json_, raw_);
      break;
    case At::value:
      value_.cut(json_);
      break;
    case At::lead:
    case At::body:
    case At::plain:
      break;
  }
  out.hold(marker_);
  marker_.clear();
  end_call(whole ? CallOutcome::complete : CallOutcome::truncated, out);
}

}  // namespace callgate::dialect
