#include "script/script.h"

#include <algorithm>

#include "script/message_text.h"

namespace callgate::script {

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool Condition::matches(const Request& request) const {
  if (!model.empty() && !matches_glob(model, request.model)) return false;
  if (stream && *stream != request.stream) return false;
  if (tools && *tools == request.tools.empty()) return false;
  if (last_role && (request.messages.empty() || request.messages.back().role != *last_role)) {
    return false;
  }
  if (turn_from || turn_to) {
    const std::uint32_t turn = turn_number(request);
    if (turn_from && turn < *turn_from) return false;
    if (turn_to && turn > *turn_to) return false;
  }
  return std::all_of(contains.begin(), contains.end(), [&](const Contains& wanted) {
    return last_text(request, wanted.role).find(wanted.text) != std::string::npos;
  });
}

}  // namespace callgate::script
