#include "policy/sentence_splitter.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "base/utf8.h"

namespace callgate::policy {
namespace {

constexpr std::uint32_t kMaxLook = 64;  // signs that decide nothing
constexpr UChar32 kEllipsis = 0x2026;   // Unicode takes it for no stop
constexpr UChar32 kGuillemet = 0xBB;
constexpr std::size_t kLongestWord = 32;  // that is looked at before a stop

bool is_space(UChar32 c) { return u_isUWhiteSpace(c); }
bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

struct SentenceSplitter::Character {
  UChar32 code = 0;
  int kind = U_SB_OTHER;
  std::size_t from = 0;
  std::size_t end = 0;

  bool is_newline() const { return kind == U_SB_CR || kind == U_SB_LF || kind == U_SB_SEP; }
  bool is_stop() const { return kind == U_SB_ATERM || kind == U_SB_STERM; }
  bool is_mark() const { return kind == U_SB_EXTEND || kind == U_SB_FORMAT; }
  bool is_letter() const {
    return kind == U_SB_UPPER || kind == U_SB_LOWER || kind == U_SB_OLETTER;
  }
};

SentenceSplitter::SentenceSplitter(SentenceOptions options) : options_(options) {}

void SentenceSplitter::push(std::string_view text, Out out) {
  buffer_ += text;
  scan(out, buffer_.size() - utf8::incomplete_tail(buffer_));
  // What left is taken away once per push, so that many sentences in one piece cost no more than their bytes.
  buffer_.erase(0, begin_);
  at_ -= begin_;
  boundary_ -= std::min(boundary_, begin_);
  line_text_ = line_text_ < begin_ ? std::string::npos : line_text_ - begin_;
  begin_ = 0;
}

void SentenceSplitter::flush(Out out) {
  const std::size_t end = buffer_.size();
  scan(out, end);
  while (phase_ == Phase::look || phase_ == Phase::ordinal) {
    if (phase_ == Phase::ordinal) {
      end_ordinal(end, out);
    } else {
      break_at(boundary_, out);
    }
    scan(out, end);
  }
  if (begin_ < end) out(std::string_view(buffer_).substr(begin_));
  buffer_.clear();
  begin_ = 0;
  at_ = 0;
  boundary_ = 0;
  line_text_ = std::string::npos;
  phase_ = Phase::text;
  fence_ = 0;
  begin_line();
}

void SentenceSplitter::scan(Out out, std::size_t end) {
  while (at_ < end) {
    Character c{.from = at_};
    std::size_t next = at_;
    U8_NEXT_OR_FFFD(buffer_.data(), next, end, c.code);
    c.end = next;
    c.kind = c.code == kEllipsis ? static_cast<int>(U_SB_ATERM)
                                 : u_getIntPropertyValue(c.code, UCHAR_SENTENCE_BREAK);
    at_ = c.end;
    step(c, out);
    if (at_ - begin_ < options_.max_bytes) continue;
    out(std::string_view(buffer_).substr(begin_, at_ - begin_));
    begin_ = at_;
    if (phase_ != Phase::fence) phase_ = Phase::text;
  }
}

void SentenceSplitter::step(const Character& c, Out out) {
  switch (phase_) {
    case Phase::text:
      return step_text(c, out);
    case Phase::stop:
      return step_stop(c, out);
    case Phase::space:
      return step_space(c, out);
    case Phase::ordinal:
      return step_ordinal(c, out);
    case Phase::quote:
      return step_quote(c, out);
    case Phase::look:
      return step_look(c, out);
    case Phase::newline:
      if (!is_space(c.code)) break_at(c.from, out, whole_);
      return;
    case Phase::fence:
      return step_fence(c);
  }
}

void SentenceSplitter::begin_line() {
  line_start_ = true;
  in_code_ = false;
  run_ = 0;
}

void SentenceSplitter::step_text(const Character& c, Out out) {
  if (c.is_newline()) {
    begin_line();
    whole_ = false;
    phase_ = Phase::newline;
    return;
  }
  if (c.code == '`') in_code_ = !in_code_;
  if (line_start_) {
    if (is_space(c.code)) return;
    if (run_ == 0) line_text_ = c.from;
    if (step_fence_opening(c, out)) return;
  }
  if (c.is_stop() && !in_code_) begin_stop(c);
}

// ``` or ~~~ at the start of a line. What stands before it leaves as it is: nobody wants to hear code.
bool SentenceSplitter::step_fence_opening(const Character& c, Out out) {
  const bool sign = c.code == '`' || c.code == '~';
  if (!sign || (run_ > 0 && fence_ != static_cast<char>(c.code))) {
    line_start_ = false;
    return false;
  }
  fence_ = static_cast<char>(c.code);
  if (++run_ < 3) return true;
  const bool is_here = line_text_ != std::string::npos && line_text_ > begin_;
  if (is_here && emit(line_text_, out, true)) begin_ = line_text_;
  phase_ = Phase::fence;
  fence_size_ = 3;
  opening_ = true;
  only_fence_ = false;
  in_code_ = false;
  return true;
}

void SentenceSplitter::step_fence(const Character& c) {
  const bool sign = c.code == static_cast<UChar32>(fence_);
  if (opening_ && sign) {
    ++fence_size_;
    return;
  }
  opening_ = false;
  if (c.code == '\n') {
    const bool closes = only_fence_ && run_ >= fence_size_;
    begin_line();
    only_fence_ = true;
    if (!closes) return;
    whole_ = true;
    phase_ = Phase::newline;
  } else if (sign) {
    ++run_;
  } else if (!is_space(c.code)) {
    only_fence_ = false;
  }
}

std::string_view SentenceSplitter::word_before(std::size_t position) const {
  std::size_t end = position;
  while (end > begin_ && is_ascii_space(buffer_[end - 1])) --end;
  const std::size_t lowest = std::max(begin_, end - std::min(end, kLongestWord));
  std::size_t from = end;
  while (from > lowest && !is_ascii_space(buffer_[from - 1])) --from;
  return std::string_view(buffer_).substr(from, end - from);
}

void SentenceSplitter::begin_stop(const Character& c) {
  const std::size_t lowest = std::max(begin_, c.from - std::min(c.from, kLongestWord));
  std::size_t word = c.from;
  while (word > lowest && !is_ascii_space(buffer_[word - 1])) --word;
  stop_ = StopKind::sentence;
  if (c.code == '.') {
    stop_ = kind_of_stop(std::string_view(buffer_).substr(word, c.from - word), word_before(word));
    const bool list_number = stop_ == StopKind::number && word == line_text_;
    if (stop_ == StopKind::abbreviation || list_number) return;
  }
  soft_ = c.kind == U_SB_ATERM;
  wants_space_ = c.code < 0x80 || c.code == kEllipsis;
  closed_ = false;
  phase_ = Phase::stop;
}

// The stop ends no sentence: go on as if it were any other sign.
void SentenceSplitter::no_break(const Character& c, Out out) {
  phase_ = Phase::text;
  step_text(c, out);
}

void SentenceSplitter::step_stop(const Character& c, Out out) {
  if (c.is_mark()) return;
  if (c.is_newline()) return no_break(c, out);
  if (c.is_stop()) {
    soft_ = c.kind == U_SB_ATERM;
    wants_space_ = wants_space_ && (c.code < 0x80 || c.code == kEllipsis);
    stop_ = StopKind::sentence;
  } else if (c.kind == U_SB_CLOSE) {
    closed_ = true;
  } else if (c.code == '*' || c.code == '_') {
    // the end of emphasis
  } else if (is_space(c.code)) {
    phase_ = Phase::space;
  } else if (wants_space_ || c.kind == U_SB_SCONTINUE) {
    no_break(c, out);
  } else {
    break_at(c.from, out);
  }
}

void SentenceSplitter::step_space(const Character& c, Out out) {
  if (c.is_newline()) return no_break(c, out);
  if (is_space(c.code) || c.is_mark()) return;
  if (c.is_stop() || c.kind == U_SB_SCONTINUE) return no_break(c, out);
  if (c.code == kGuillemet) {
    boundary_ = c.from;
    phase_ = Phase::quote;
    return;
  }
  if (soft_) return step_soft_space(c, out);
  if (c.kind == U_SB_LOWER && closed_) return no_break(c, out);  // "Why?" she asked.
  break_at(c.from, out);
}

void SentenceSplitter::step_soft_space(const Character& c, Out out) {
  boundary_ = c.from;
  if (c.kind == U_SB_LOWER) return no_break(c, out);
  if (c.kind == U_SB_NUMERIC) {
    const bool joined = stop_ == StopKind::before_digit || stop_ == StopKind::number;
    return joined ? no_break(c, out) : break_at(c.from, out);
  }
  if (!c.is_letter()) {
    looked_ = 1;
    phase_ = Phase::look;
  } else if (stop_ == StopKind::number) {
    phase_ = Phase::ordinal;
  } else {
    break_at(c.from, out);
  }
}

void SentenceSplitter::step_ordinal(const Character& c, Out out) {
  if ((c.is_letter() || c.is_mark()) && c.end - boundary_ < kLongestWord) return;
  end_ordinal(c.from, out);
}

void SentenceSplitter::end_ordinal(std::size_t word_end, Out out) {
  const std::string_view word = std::string_view(buffer_).substr(boundary_, word_end - boundary_);
  if (!follows_ordinal(word)) return break_at(boundary_, out);
  phase_ = Phase::text;
  at_ = boundary_;
}

// French closes with it, between two spaces; German opens with it.
void SentenceSplitter::step_quote(const Character& c, Out out) {
  if (!is_space(c.code)) return break_at(boundary_, out);
  closed_ = true;
  phase_ = Phase::space;
  step_space(c, out);
}

void SentenceSplitter::step_look(const Character& c, Out out) {
  if (c.kind == U_SB_LOWER) {
    phase_ = Phase::text;
    at_ = boundary_;  // what was passed over is read as text
  } else if (c.is_letter() || c.is_stop() || c.is_newline() || ++looked_ > kMaxLook) {
    break_at(boundary_, out);
  }
}

void SentenceSplitter::break_at(std::size_t position, Out out, bool whole) {
  if (emit(position, out, whole)) begin_ = position;
  at_ = position;
  phase_ = Phase::text;
}

// White space alone is not a sentence.
bool SentenceSplitter::emit(std::size_t end, Out out, bool whole) {
  const std::string_view text = std::string_view(buffer_).substr(begin_, end - begin_);
  const std::size_t wanted = whole ? 1 : std::max<std::size_t>(options_.min_characters, 1);
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size() && characters < wanted;) {
    UChar32 code = 0;
    U8_NEXT_OR_FFFD(text.data(), i, text.size(), code);
    if (!is_space(code)) ++characters;
  }
  if (characters < wanted) return false;
  out(text);
  return true;
}

}  // namespace callgate::policy
