#include "config/mistakes.h"

#include <algorithm>

namespace callgate::server {

std::size_t SourceLines::find(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = lines_.find(path); found != lines_.end()) return found->second;
    const std::size_t end = path.find_last_of('.');
    path = path.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return 0;
}

void locate(std::vector<Mistake>& mistakes, const SourceLines& lines) {
  for (Mistake& mistake : mistakes) {
    if (mistake.line == 0) mistake.line = lines.find(mistake.path);
  }
  std::stable_sort(mistakes.begin(), mistakes.end(), [](const Mistake& a, const Mistake& b) {
    if ((a.line == 0) != (b.line == 0)) return b.line == 0;
    return a.line < b.line;
  });
}

std::string to_text(const std::vector<Mistake>& mistakes, std::string_view file) {
  std::string text;
  for (const Mistake& mistake : mistakes) {
    if (!text.empty()) text += '\n';
    // An override has no place in the file.
    if (!mistake.message.starts_with("--set ")) {
      text += file;
      if (mistake.line > 0) text += ":" + std::to_string(mistake.line);
      text += mistake.warning ? ": warning: " : ": ";
    }
    text += mistake.message;
  }
  return text;
}

}  // namespace callgate::server
