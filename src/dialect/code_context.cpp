#include "dialect/code_context.h"

#include "base/byte_class.h"

namespace callgate::dialect {

void CodeContext::push(std::string_view bytes) {
  static const ByteClass kStops = [] {
    ByteClass stops;
    for (const char c : {'\n', '`', '~', '\\'}) stops.add(c);
    return stops;
  }();
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (in_plain_text()) at = kStops.find(bytes, at);
    if (at < bytes.size()) push_byte(bytes[at++]);
  }
}

bool CodeContext::in_span() const {
  if (run_ == 0 || run_byte_ != '`') return span_ != 0;
  return span_ == 0 || span_ != run_;  // the run opens code, or does not close it
}

std::string_view CodeContext::place() const {
  if (fence_ != 0 || opens_fence_ != 0) return "in a code fence";
  if (quote_) return "in a block quote";
  return indented_code() ? "in indented code" : "in inline code";
}

void CodeContext::push_byte(char c) {
  if (run_ > 0 && c != run_byte_) end_run();
  switch (c) {
    case '\n':
      end_line();
      return;
    case ' ':
    case '\t':
      if (blank_) indent_ += c == '\t' ? kMaxIndent + 1 : 1;
      follow_lead(c);
      escaped_ = false;
      return;
    case '\r':
      return;
    case '`':
    case '~':
      if (escaped_ || quote_) break;
      if (run_ == 0) {
        run_byte_ = c;
        run_leads_ = lead_ == Lead::open;
      }
      ++run_;
      follow_lead(c);
      return;
    case '>':
      if (lead_ == Lead::open && indent_ <= kMaxIndent && fence_ == 0) quote_ = true;
      break;
    default:
      break;
  }
  escaped_ = c == '\\' && !escaped_ && span_ == 0;
  closes_fence_ = false;
  follow_lead(c);
}

// White space and the markers of lists.
void CodeContext::follow_lead(char c) {
  if (lead_ == Lead::over) return;
  const bool space = c == ' ' || c == '\t';
  const bool digit = c >= '0' && c <= '9';
  if (blank_ && !space) indented_ = indent_ > kMaxIndent;
  blank_ = blank_ && space;
  column_ += c == '\t' ? kMaxIndent + 1 : 1;
  switch (lead_) {
    case Lead::open:
      if (c == '-' || c == '*' || c == '+') {
        lead_ = Lead::bullet;
      } else if (!space) {
        lead_ = digit ? Lead::number : Lead::over;
      }
      break;
    case Lead::bullet:
      lead_ = space ? Lead::open : Lead::over;
      break;
    case Lead::number:
      if (!digit) lead_ = c == '.' || c == ')' ? Lead::bullet : Lead::over;
      break;
    case Lead::over:
      break;
  }
}

void CodeContext::end_run() {
  const std::size_t length = run_;
  run_ = 0;
  closes_fence_ = false;
  if (fence_ != 0) {
    closes_fence_ = run_leads_ && run_byte_ == fence_ && length >= fence_length_ &&
                    indent_ <= fence_indent_ + kMaxIndent && column_ == indent_ + 1;
    return;
  }
  if (run_leads_ && length >= kFence) {
    opens_fence_ = run_byte_;
    fence_length_ = length;
    fence_indent_ = column_ - 1;  // the run's first byte ended the lead
    return;
  }
  if (run_byte_ != '`' || opens_fence_ == '~') return;
  if (opens_fence_ != 0) {
    // The info string of a fence of backticks has none: the line is inline code.
    opens_fence_ = 0;
    span_ = fence_length_ == length ? 0 : fence_length_;
  } else if (span_ == 0) {
    span_ = length;
  } else if (span_ == length) {
    span_ = 0;
  }
}

void CodeContext::end_line() {
  if (fence_ != 0) {
    if (closes_fence_) fence_ = 0;
  } else if (opens_fence_ != 0) {
    fence_ = opens_fence_;
  }
  blank_ = true;
  indented_ = false;
  lead_ = Lead::open;
  quote_ = false;
  opens_fence_ = 0;
  closes_fence_ = false;
  escaped_ = false;
  indent_ = 0;
  column_ = 0;
  span_ = 0;
}

}  // namespace callgate::dialect
