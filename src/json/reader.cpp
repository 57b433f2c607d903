#include "json/reader.h"

#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "json/escape.h"
#include "json/integer.h"
#include "json/string_run.h"

// Positions travel through the functions below as arguments and results, not through at_: on frames of a few hundred
// bytes the detour through memory costs a third of the time. A null result means that a fault was recorded.
namespace callgate::json {
namespace {

inline const char* space_end(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

inline std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The name that begins at `name`, where it has less than 32 bytes, is plain and ends with `":`: as nearly all do. Empty: it has to be
// looked at closer.
inline std::string_view usual_name(const char* name, const char* end) {
#if defined(__SSE2__)
  bool ascii = true;
  for (const char* at = name; at - name < 32 && end - at >= 18; at += 16) {
    const detail::Marks found =
        detail::marks(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    if (found.special == 0) {
      ascii = ascii && found.high == 0;
      continue;
    }
    const StringRun run = detail::run_to(at, found, ascii);
    if (!run.ascii || run.end[0] != '"' || run.end[1] != ':') return {};
    return view(name, run.end);
  }
  return {};
#else
  (void)name;
  (void)end;
  return {};
#endif
}

}  // namespace

Reader::Reader(std::string_view text) { reset(text); }

void Reader::reset(std::string_view text) {
  begin_ = at_ = text.data();
  end_ = at_ + text.size();
  expecting_ = true;
  failed_ = false;
  nesting_.clear();
  error_ = {};
}

Kind Reader::peek() {
  at_ = space_end(at_, end_);
  if (at_ == end_ || !expecting_) return Kind::invalid;
  switch (*at_) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return *at_ == '-' || is_digit(*at_) ? Kind::number : Kind::invalid;
  }
}

bool Reader::next_member(std::string_view& key) {
  const char* at = space_end(at_, end_);
  if (expecting_) {
    if (at == end_ || *at != '{') return fault(at, "expected an object");
    if (!nesting_.open(true)) return fault(at, "expected at most 128 levels of nesting");
    expecting_ = false;
    at = space_end(at + 1, end_);
    if (at != end_ && *at == '}') return close(at);
  } else {
    if (!nesting_.in_object()) return fault(at, "expected to be inside an object");
    if (at != end_ && *at == '}') return close(at);
    if (at == end_ || *at != ',') return fault(at, "expected ',' or '}'");
    at = space_end(at + 1, end_);
  }
  if (at != end_ && *at == '"') {
    if (const std::string_view name = usual_name(at + 1, end_); !name.empty()) {
      at_ = at + 1 + name.size() + 2;
      key = name;
      return expecting_ = true;
    }
  }
  bool escaped = false;
  const char* const name_end = member_name_end(at, escaped);
  if (!name_end) return false;
  const char* const colon = space_end(name_end, end_);
  if (colon == end_ || *colon != ':') return fault(colon, "expected ':'");
  at_ = colon + 1;
  key = text_of(view(at + 1, name_end - 1), escaped);
  return expecting_ = true;
}

bool Reader::next_element() {
  const char* at = space_end(at_, end_);
  if (expecting_) {
    if (at == end_ || *at != '[') return fault(at, "expected an array");
    if (!nesting_.open(false)) return fault(at, "expected at most 128 levels of nesting");
    expecting_ = false;
    at = space_end(at + 1, end_);
    if (at != end_ && *at == ']') return close(at);
    at_ = at;
    return expecting_ = true;
  }
  if (!nesting_.in_array()) return fault(at, "expected to be inside an array");
  if (at != end_ && *at == ']') return close(at);
  if (at == end_ || *at != ',') return fault(at, "expected ',' or ']'");
  at_ = at + 1;
  return expecting_ = true;
}

std::string_view Reader::string() {
  const char* const at = begin_value();
  if (!at) return {};
  if (*at != '"') return fault(at, "expected a string"), std::string_view();
  bool escaped = false;
  const char* const after = string_end(at + 1, escaped);
  if (!after) return {};
  at_ = after;
  return text_of(view(at + 1, after - 1), escaped);
}

std::string_view Reader::number() {
  const char* const at = begin_value();
  const char* const after = at ? number_end(at) : nullptr;
  if (!after) return {};
  at_ = after;
  return view(at, after);
}

std::optional<std::int64_t> Reader::integer() {
  const std::string_view text = number();
  if (text.empty()) return std::nullopt;
  return to_integer(text);
}

bool Reader::boolean() {
  const char* const at = begin_value();
  if (!at) return false;
  if (*at != 't' && *at != 'f') return fault(at, "expected true or false");
  const char* const after = word_end(at, *at == 't' ? "true" : "false");
  if (!after) return false;
  at_ = after;
  return *at == 't';
}

void Reader::null() {
  const char* const at = begin_value();
  if (!at) return;
  if (const char* const after = word_end(at, "null")) at_ = after;
}

void Reader::skip() {
  const char* at = begin_value();
  if (!at) return;
  const std::size_t floor = nesting_.depth();
  do {
    at = *at == '{' || *at == '[' ? enter(at) : scalar_end(at);
    while (at && !expecting_ && nesting_.depth() > floor) at = next_value(at);
    if (!at) return;
  } while (std::exchange(expecting_, false));
  at_ = at;
}

std::string_view Reader::raw() {
  const char* const start = space_end(at_, end_);
  skip();
  return failed_ ? std::string_view() : view(start, at_);
}

bool Reader::finish() {
  if (failed_) return false;
  const char* const at = space_end(at_, end_);
  at_ = at;
  if (expecting_) return fault(at, "expected a value");
  if (nesting_.in_object()) return fault(at, "expected ',' or '}'");
  if (nesting_.in_array()) return fault(at, "expected ',' or ']'");
  return at == end_ || fault(at, "expected the end of the text");
}

void Reader::fail(std::string_view message) { fault(at_, message); }

bool Reader::fault(const char* at, std::string_view message) {
  at_ = at;
  if (!failed_) error_ = {offset(), message};
  failed_ = true;
  end_ = at_;
  expecting_ = false;
  nesting_.clear();
  return false;
}

// The first byte of a value that is due.
inline const char* Reader::begin_value() {
  const char* const at = space_end(at_, end_);
  if (!expecting_) return fault(at, "expected no value"), nullptr;
  if (at == end_) return fault(at, "expected a value"), nullptr;
  expecting_ = false;
  return at;
}

bool Reader::close(const char* at) {
  nesting_.close();
  at_ = at + 1;
  return false;
}

// skip(): from the opening bracket to the first value in it, which is then expected, or past an empty pair.
const char* Reader::enter(const char* at) {
  const bool object = *at == '{';
  if (!nesting_.open(object)) return fault(at, "expected at most 128 levels of nesting"), nullptr;
  at = space_end(at + 1, end_);
  if (at != end_ && *at == (object ? '}' : ']')) {
    nesting_.close();
    return at + 1;
  }
  return object ? skip_name(at) : expect_value(at);
}

// skip(): from the end of a value to the next one, which is then expected, or past the bracket that closes.
const char* Reader::next_value(const char* at) {
  const bool object = nesting_.in_object();
  at = space_end(at, end_);
  if (at != end_ && *at == ',') {
    at = space_end(at + 1, end_);
    return object ? skip_name(at) : expect_value(at);
  }
  if (at == end_ || *at != (object ? '}' : ']')) {
    return fault(at, object ? "expected ',' or '}'" : "expected ',' or ']'"), nullptr;
  }
  nesting_.close();
  return at + 1;
}

const char* Reader::skip_name(const char* at) {
  bool escaped = false;
  at = member_name_end(at, escaped);
  if (!at) return nullptr;
  at = space_end(at, end_);
  if (at == end_ || *at != ':') return fault(at, "expected ':'"), nullptr;
  return expect_value(space_end(at + 1, end_));
}

const char* Reader::expect_value(const char* at) {
  if (at == end_) return fault(at, "expected a value"), nullptr;
  expecting_ = true;
  return at;
}

inline const char* Reader::member_name_end(const char* at, bool& escaped) {
  if (at == end_ || *at != '"') return fault(at, "expected a member name"), nullptr;
  return string_end(at + 1, escaped);
}

inline const char* Reader::scalar_end(const char* at) {
  bool escaped = false;
  switch (*at) {
    case '"':
      return string_end(at + 1, escaped);
    case 't':
      return word_end(at, "true");
    case 'f':
      return word_end(at, "false");
    case 'n':
      return word_end(at, "null");
    default:
      if (*at == '-' || is_digit(*at)) return number_end(at);
      return fault(at, "expected a value"), nullptr;
  }
}

// From after the opening quote to after the closing one. `escaped` is set when there are escapes.
inline const char* Reader::string_end(const char* at, bool& escaped) {
  const StringRun run = string_run(at, end_);
  if (run.ascii && run.end != end_ && *run.end == '"') return run.end + 1;
  return odd_string_end(at, escaped);
}

const char* Reader::odd_string_end(const char* at, bool& escaped) {
  while (true) {
    const StringRun run = string_run(at, end_);
    if (!run.ascii) {
      const std::size_t bad = utf8::find_invalid(view(at, run.end));
      if (bad != std::string_view::npos) return fault(at + bad, "expected valid UTF-8"), nullptr;
    }
    at = run.end;
    if (at == end_) return fault(at, "expected the string to end"), nullptr;
    if (*at == '"') return at + 1;
    if (*at != '\\') return fault(at, "expected control characters to be escaped"), nullptr;
    escaped = true;
    at = escape_end(at + 1);
    if (!at) return nullptr;
  }
}

const char* Reader::escape_end(const char* at) {
  if (at == end_) return fault(at, "expected the string to end"), nullptr;
  if (is_short_escape(*at)) return at + 1;
  if (*at != 'u') return fault(at, "expected one of \"\\/bfnrtu after a backslash"), nullptr;
  ++at;
  for (int i = 0; i < 4; ++i, ++at) {
    if (at == end_ || hex_digit(*at) < 0) {
      return fault(at, "expected four hex digits after \\u"), nullptr;
    }
  }
  return at;
}

std::string_view Reader::text_of(std::string_view text, bool escaped) {
  if (!escaped) return text;
  scratch_.clear();
  append_unescaped(scratch_, text);
  return scratch_;
}

const char* Reader::number_end(const char* at) {
  if (*at == '-') ++at;
  if (at == end_ || !is_digit(*at)) return fault(at, "expected a number"), nullptr;
  at = *at == '0' ? at + 1 : digits_end(at);
  if (at != end_ && *at == '.') {
    at = digits_end(at + 1);
    if (!at) return nullptr;
  }
  if (at != end_ && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end_ && (*at == '+' || *at == '-')) ++at;
    return digits_end(at);
  }
  return at;
}

const char* Reader::digits_end(const char* at) {
  if (at == end_ || !is_digit(*at)) return fault(at, "expected a digit"), nullptr;
  while (at != end_ && is_digit(*at)) ++at;
  return at;
}

const char* Reader::word_end(const char* at, std::string_view word) {
  if (!view(at, end_).starts_with(word)) return fault(at, "expected true, false or null"), nullptr;
  return at + word.size();
}

}  // namespace callgate::json
