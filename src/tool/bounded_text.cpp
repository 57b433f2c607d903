#include "tool/bounded_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace callgate::tool {

std::string_view whole_prefix(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  text = text.substr(0, limit);
  text.remove_suffix(utf8::incomplete_tail(text));
  return text;
}

void BoundedText::append(std::string_view bytes) {
  bytes_ += bytes.size();
  kept_.append(bytes.substr(0, limit_ - kept_.size()));
}

std::string BoundedText::take() {
  std::string_view whole = kept_;
  if (truncated()) whole.remove_suffix(utf8::incomplete_tail(whole));
  if (utf8::is_valid(whole)) {
    kept_.resize(whole.size());
    return std::move(kept_);
  }
  std::string clean;
  clean.reserve(whole.size());
  utf8::append_sanitized(clean, whole);
  // A replacement is longer than what it replaces.
  clean.resize(whole_prefix(clean, limit_).size());
  return clean;
}

}  // namespace callgate::tool
