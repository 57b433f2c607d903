#include "dialect/models.h"

namespace callgate::dialect {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// `*` stands for any characters.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && lower(pattern[p]) == lower(text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

const Dialect* default_for(std::string_view model) {
  const Dialect* best = nullptr;
  std::size_t longest = 0;
  for (const Dialect* dialect : all()) {
    for (const std::string_view pattern : dialect->models) {
      if (pattern.size() <= longest || !matches(pattern, model)) continue;
      best = dialect;
      longest = pattern.size();
    }
  }
  return best;
}

}  // namespace callgate::dialect
