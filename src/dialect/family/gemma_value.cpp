#include "dialect/family/gemma_value.h"

#include <algorithm>

#include "base/text.h"
#include "dialect/family/tagged_value.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxGemmaWord = std::size_t{1} << 16;
constexpr std::size_t kMaxClosers = 4096;

// Models that know Python write the other one.
bool is_colon(char c) { return c == ':' || c == '='; }

// A number, true, false or null, as JSON or as Python writes them.
bool append_gemma_literal(std::string& out, std::string_view word) {
  struct Constant {
    std::string_view text;
    std::string_view json;
  };
  constexpr Constant kConstants[] = {{"true", "true"}, {"false", "false"}, {"null", "null"},
                                     {"True", "true"}, {"False", "false"}, {"None", "null"}};
  for (const Constant& constant : kConstants) {
    if (word != constant.text) continue;
    out += constant.json;
    return true;
  }
  if (!is_json_number(word)) return false;
  out += word;
  return true;
}

}  // namespace

void GemmaArguments::begin(const GemmaMarkers& markers, std::string& out) {
  state_ = State::open;
  at_ = At::key;
  markers_ = markers;
  stack_.clear();
  stack_.push_back({'}', 0});
  read_close_marker_ = false;
  marker_.clear();
  closers_.clear();
  leftover_.clear();
  out.push_back('{');
}

std::size_t GemmaArguments::push(std::string_view bytes, std::string& out) {
  std::size_t i = 0;
  while (i < bytes.size() && state_ == State::open) {
    if (!marker_.empty()) {
      if (step_marker(bytes[i], out)) ++i;
    } else if (at_ == At::text) {
      i += push_text(bytes.substr(i), out);
    } else if (at_ == At::json_text) {
      i += quoted_.push(bytes.substr(i), out);
      if (quoted_.closed()) end_text(out);
    } else if (step(bytes[i], out)) {
      ++i;
    }
  }
  return i;
}

std::size_t GemmaArguments::push_text(std::string_view bytes, std::string& out) {
  std::size_t run = 0;
  while (run < bytes.size() && bytes[run] != '<' && bytes[run] != '}') ++run;
  value_.push(bytes.substr(0, run), out);
  if (run == bytes.size()) return run;
  if (bytes[run] == '<') {
    marker_.assign(1, '<');
  } else {
    closers_.assign(1, '}');
    at_ = At::text_closers;
  }
  return run + 1;
}

// False: the byte is to be looked at again in the new state, or it is a fault.
bool GemmaArguments::step(char c, std::string& out) {
  switch (at_) {
    case At::key:
      return step_key(c, out);
    case At::key_word:
      return step_key_word(c, out);
    case At::colon:
      if (is_colon(c)) at_ = At::value;
      return is_colon(c) || is_space(c) || fail();
    case At::value:
      return step_value(c, out);
    case At::word:
      return step_word(c, out);
    case At::text_closers:
      return step_text_closers(c, out);
    case At::text_close:
      return step_text_close(c, out);
    case At::single_text:
      if (c == '\'') {
        at_ = At::single_quote;
      } else {
        value_.push(std::string_view(&c, 1), out);
      }
      return true;
    case At::single_quote:
      if (c == ',' || c == '}' || c == ']' || is_colon(c) || c == '<' || is_space(c)) {
        end_text(out);
      } else {
        value_.push("'", out);
        at_ = At::single_text;
      }
      return false;
    case At::after_value:
      return step_after_value(c, out);
    case At::text:
    case At::json_text:
      break;
  }
  return true;
}

bool GemmaArguments::step_key(char c, std::string& out) {
  if (is_space(c)) return true;
  if (c == '}') return close(c, out);
  if (c == '<') {
    marker_.assign(1, '<');
    return true;
  }
  if (c == '"' || c == '\'') {
    begin_element(out);
    begin_text(c == '"' ? At::json_text : At::single_text, true, out);
    return true;
  }
  word_.clear();
  at_ = At::key_word;
  return false;
}

bool GemmaArguments::step_key_word(char c, std::string& out) {
  if (is_colon(c)) {
    const std::string_view key = trimmed(word_);
    if (key.empty()) return fail();
    begin_element(out);
    json::append_string(out, key);
    out.push_back(':');
    at_ = At::value;
    return true;
  }
  if (c == '}' || c == ',' || c == '{' || word_.size() >= kMaxGemmaWord) return fail();
  if (c == '<') {
    marker_.assign(1, '<');
  } else {
    word_.push_back(c);
  }
  return true;
}

bool GemmaArguments::step_value(char c, std::string& out) {
  if (is_space(c)) return true;
  const bool in_array = stack_.back().close == ']';
  if (in_array && c == ']') return close(c, out);
  if (c == '<') {
    marker_.assign(1, '<');
    return true;
  }
  if (in_array) begin_element(out);
  if (c == '{' || c == '[') return open(c, out);
  if (c == '"' || c == '\'') {
    begin_text(c == '"' ? At::json_text : At::single_text, false, out);
    return true;
  }
  begin_word();
  return false;
}

void GemmaArguments::begin_word() {
  word_.clear();
  comma_ = std::string::npos;
  at_ = At::word;
}

bool GemmaArguments::step_word(char c, std::string& out) {
  const bool in_object = stack_.back().close == '}';
  if (c == stack_.back().close) {
    finish_word(word_, out);
    return false;
  }
  if (c == ',') {
    std::string literal;
    if (!in_object || append_gemma_literal(literal, trimmed(word_))) {
      finish_word(word_, out);
      return false;
    }
    // The comma is data unless a key follows.
    comma_ = word_.size();
  }
  if (c == ':' && comma_ != std::string::npos) {
    const std::string key = word_.substr(comma_ + 1);
    finish_word(std::string_view(word_).substr(0, comma_), out);
    step_after_value(',', out);
    word_ = key;
    at_ = At::key_word;
    return false;
  }
  if (word_.size() >= kMaxGemmaWord) return fail();
  if (c == '<') {
    marker_.assign(1, '<');
  } else {
    word_.push_back(c);
  }
  return true;
}

bool GemmaArguments::step_after_value(char c, std::string& out) {
  if (is_space(c)) return true;
  switch (c) {
    case ',':
      ++stack_.back().count;
      at_ = stack_.back().close == '}' ? At::key : At::value;
      return true;
    case '}':
    case ']':
      return close(c, out);
    case '<':
      marker_.assign(1, '<');
      return true;
  }
  return fail();
}

bool GemmaArguments::step_text_closers(char c, std::string& out) {
  if (c == '<') {
    marker_.assign(1, '<');
    return true;
  }
  if ((c == '}' || c == ']' || is_space(c)) && closers_.size() < kMaxClosers) {
    closers_.push_back(c);
    return true;
  }
  closers_are_data(out);
  return false;
}

// Behind the close marker inside a text: it was the call's own if nothing more or another marker follows.
bool GemmaArguments::step_text_close(char c, std::string& out) {
  const std::string_view space =
      std::string_view(closers_).substr(text_end_ + markers_.close.size());
  // Markers stand side by side or on lines of their own; apart by blanks only, they are words.
  if (c == '<' && (space.empty() || space.find('\n') != std::string_view::npos)) {
    marker_.assign(1, '<');
    return true;
  }
  if (is_space(c) && closers_.size() < kMaxClosers) {
    closers_.push_back(c);
    return true;
  }
  closers_are_data(out);
  return false;
}

bool GemmaArguments::step_marker(char c, std::string& out) {
  marker_.push_back(c);
  if (markers_.quote == marker_) {
    marker_.clear();
    return match_quote(out);
  }
  if (markers_.close == marker_) {
    marker_.clear();
    return match_close(out);
  }
  if (markers_.quote.starts_with(marker_) || markers_.close.starts_with(marker_)) return true;
  marker_.pop_back();
  no_marker(out);
  return false;
}

bool GemmaArguments::match_quote(std::string& out) {
  switch (at_) {
    case At::key:
      begin_element(out);
      begin_text(At::text, true, out);
      return true;
    case At::value:
      if (stack_.back().close == ']') begin_element(out);
      begin_text(At::text, false, out);
      return true;
    case At::text_closers:
    case At::text_close:
      closers_are_data(out);
      [[fallthrough]];
    case At::text:
      end_text(out);
      return true;
    case At::word:
      finish_word(word_, out);
      return true;
    case At::after_value:
      return true;  // a quote too many
    case At::key_word:
    case At::colon:
    case At::single_text:
    case At::single_quote:
    case At::json_text:
      break;
  }
  fail();
  return true;
}

bool GemmaArguments::match_close(std::string& out) {
  switch (at_) {
    case At::word:
      finish_word(word_, out);
      [[fallthrough]];
    case At::after_value:
    case At::key:
      close_all(out);
      return true;
    case At::value:
      if (stack_.back().close == ']') {
        close_all(out);
        return true;
      }
      break;
    case At::text:
    case At::text_closers:
      text_end_ = closers_.size();
      closers_ += markers_.close;
      at_ = At::text_close;
      return true;
    case At::text_close:
      end_at_closers(out);
      leftover_ += markers_.close;
      return true;
    case At::key_word:
    case At::colon:
    case At::single_text:
    case At::single_quote:
    case At::json_text:
      break;
  }
  fail();
  return true;
}

// What looked like a marker is data.
void GemmaArguments::no_marker(std::string& out) {
  std::string bytes;
  bytes.swap(marker_);
  switch (at_) {
    case At::text:
      value_.push(bytes, out);
      return;
    case At::text_closers:
      closers_are_data(out);
      value_.push(bytes, out);
      return;
    case At::text_close:
      end_at_closers(out);
      leftover_ += bytes;
      return;
    case At::word:
    case At::key_word:
      word_ += bytes;
      return;
    case At::value:
      if (stack_.back().close == ']') begin_element(out);
      begin_word();
      word_ = bytes;
      return;
    case At::key:
    case At::colon:
    case At::after_value:
    case At::single_text:
    case At::single_quote:
    case At::json_text:
      fail();
      return;
  }
}

void GemmaArguments::closers_are_data(std::string& out) {
  value_.push(closers_, out);
  closers_.clear();
  at_ = At::text;
}

// The text ends before the held back braces, which close what they can.
void GemmaArguments::end_at_closers(std::string& out) {
  const std::string closers = closers_.substr(0, text_end_);
  closers_.clear();
  if (text_is_key_) {
    fail();
    return;
  }
  end_text(out);
  for (const char c : closers) {
    if (!is_space(c) && state_ == State::open && c == stack_.back().close) close(c, out);
  }
  close_all(out);
}

void GemmaArguments::begin_text(At at, bool is_key, std::string& out) {
  at_ = at;
  text_is_key_ = is_key;
  if (at == At::json_text) {
    out.push_back('"');
    quoted_.begin('"', QuotedString::Style::json);
  } else {
    value_.begin({}, 0, out);
  }
}

void GemmaArguments::end_text(std::string& out) {
  if (at_ == At::json_text) {
    out.push_back('"');
  } else {
    value_.end(out);
  }
  at_ = At::after_value;
  if (!text_is_key_) return;
  out.push_back(':');
  at_ = At::colon;
}

void GemmaArguments::begin_element(std::string& out) {
  if (stack_.back().count > 0) out.push_back(',');
}

bool GemmaArguments::open(char c, std::string& out) {
  if (stack_.size() >= json::kMaxDepth) return fail();
  out.push_back(c);
  stack_.push_back({c == '{' ? '}' : ']', 0});
  at_ = c == '{' ? At::key : At::value;
  return true;
}

bool GemmaArguments::close(char c, std::string& out) {
  if (c != stack_.back().close) return fail();
  out.push_back(c);
  stack_.pop_back();
  at_ = At::after_value;
  if (stack_.empty()) state_ = State::closed;
  return true;
}

void GemmaArguments::finish_word(std::string_view word, std::string& out) {
  if (!append_gemma_literal(out, trimmed(word))) json::append_string(out, trimmed(word));
  at_ = At::after_value;
}

void GemmaArguments::close_all(std::string& out) {
  while (state_ == State::open) close(stack_.back().close, out);
  read_close_marker_ = true;
}

bool GemmaArguments::finish(std::string& out) {
  if (state_ == State::closed) return true;
  if (state_ == State::failed) return false;
  if (at_ == At::text_close && marker_.empty()) {
    end_at_closers(out);
    return state_ == State::closed;
  }
  if (at_ == At::text || at_ == At::text_closers || at_ == At::text_close) {
    value_.push(closers_, out);
    value_.push(marker_, out);
  }
  if (at_ == At::json_text) {
    quoted_.cut(out);
  } else if (at_ == At::word) {
    append_gemma_literal(out, trimmed(word_));
  } else {
    value_.cut(out);
  }
  state_ = State::failed;
  return false;
}

bool GemmaArguments::fail() {
  state_ = State::failed;
  return false;
}

}  // namespace callgate::dialect
