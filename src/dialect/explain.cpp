#include "dialect/explain.h"

#include <algorithm>

#include "base/utf8.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMostShown = 64;  // bytes of a word that was found

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (byte < 0x20 || byte == 0x7f) {
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  } else {
    out += c;
  }
}

std::string_view cut_to(std::string_view text, std::size_t bytes) {
  text = text.substr(0, bytes);
  return text.substr(0, text.size() - utf8::incomplete_tail(text));
}

// Bytes of the first character, as far as they are there.
std::size_t first_character(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return std::min(size, text.size());
}

void append_shown(std::string& out, std::string_view text, char quote) {
  std::string clean;
  utf8::append_sanitized(clean, text);
  out += quote;
  for (const char c : clean) append_escaped(out, c);
  out += quote;
}

}  // namespace

std::string expectation(std::string_view expected, const Found& found) {
  std::string text = "expected ";
  text.append(expected);
  switch (found.extent) {
    case Found::Extent::unknown:
      break;
    case Found::Extent::rest: {
      const std::string_view first = found.text.substr(0, first_character(found.text));
      append_shown(text.append(", found "), first, first == "'" ? '"' : '\'');
      break;
    }
    case Found::Extent::word:
      append_shown(text.append(", found "), cut_to(found.text, kMostShown), '"');
      break;
    case Found::Extent::end:
      text.append(", found the end of the turn");
      break;
  }
  return text;
}

std::string undeclared(std::string_view tool) {
  return std::string("tool \"").append(tool).append("\" is not declared");
}

std::string to_string(const StayedText& text, std::string_view asked) {
  std::string line(text.dialect.empty() ? asked : text.dialect);
  line.append(": opener at byte ").append(std::to_string(text.begin));
  if (text.end != text.begin) line.append(", gave up at byte ").append(std::to_string(text.end));
  return line.append(": ").append(text.reason);
}

void OpenerDoubts::report(std::string_view expected, const Found& found) {
  if (to_ == nullptr) return;
  out_.expected(expected, found);
  Doubt& doubt = *out_.doubt();
  to_->stayed_text({.begin = at_, .end = doubt.at, .reason = doubt.reason});
  doubt.reason.clear();
}

void ExplainRelay::begin(std::string_view dialect, std::uint64_t offset, Mode mode) {
  dialect_ = dialect;
  offset_ = offset;
  mode_ = mode;
  kept_ = false;
}

void ExplainRelay::stayed_text(const StayedText& text) {
  const std::uint64_t begin = offset_ + text.begin;
  const std::uint64_t end = offset_ + text.end;
  if (mode_ == Mode::pass) return report(dialect_, begin, end, text.reason);
  if (kept_) return;
  kept_ = true;
  begin_ = begin;
  end_ = end;
  reason_ = text.reason;
}

void ExplainRelay::release() {
  if (kept_) return report(dialect_, begin_, end_, reason_);
  report(dialect_, offset_, offset_, "what follows is not a call");
}

void ExplainRelay::report(std::string_view dialect, std::uint64_t begin, std::uint64_t end,
                          std::string_view reason) {
  if (to_ == nullptr || begin < told_to_) return;
  if (end > begin) told_to_ = end;
  to_->stayed_text({.dialect = dialect, .begin = begin, .end = end, .reason = reason});
}

}  // namespace callgate::dialect
