// Texts for a terminal: colours, indentation, and nothing that steers it.
#pragma once

#include <string>
#include <string_view>

namespace callgate::cli {

// Codes that change how a terminal writes; without `colours` the text as it is.
class Style {
 public:
  explicit Style(bool colours) : colours_(colours) {}
  std::string dim(std::string_view text) const { return wrap("\033[2m", text); }
  std::string bold(std::string_view text) const { return wrap("\033[1m", text); }
  std::string red(std::string_view text) const { return wrap("\033[31m", text); }
  std::string green(std::string_view text) const { return wrap("\033[32m", text); }
  std::string cyan(std::string_view text) const { return wrap("\033[36m", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!colours_) return std::string(text);
    return std::string(code).append(text).append("\033[0m");
  }

  bool colours_;
};

// What models and callers wrote must not steer the terminal: control characters are shown as \x1b.
std::string harmless(std::string_view text);
// The same without line breaks.
std::string one_line(std::string_view text);
// Each line that is not empty begins with `by`; the last one ends with a line break.
std::string indented(std::string_view text, std::string_view by);
// Indented by two blanks for each level. Text that is not JSON stays as it is.
std::string pretty_json(std::string_view json);

}  // namespace callgate::cli
