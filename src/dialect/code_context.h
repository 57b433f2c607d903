// Where in a Markdown text the next byte stands: in code, in a block quote, at the start of a line.
//
//   Say `x`:            after `: in code until the same run of backticks, or the line, ends
//   ```json             from the next line on in a fence, until a line of at least as many of the same
//   > quoted            the whole line is quoted
//   - item   <f>        not at the start of a line; a fence or a quote may open there
//
// Reads each byte once and keeps no text. A run of backticks that its line does not close hides that line only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace callgate::dialect {

class CodeContext {
 public:
  void push(std::string_view bytes);
  void reset() { *this = {}; }

  // Inside inline code, a fence or a block quote, or in a line of code that is indented by four.
  bool quoted() const {
    return fence_ != 0 || quote_ || opens_fence_ != 0 || indented_code() || in_span();
  }
  // Where that is; static text. REQUIRES: quoted().
  std::string_view place() const;
  // Inside inline code or a fence: what it holds ends with it.
  bool in_code() const { return fence_ != 0 || opens_fence_ != 0 || in_span(); }
  // Inside inline code of this line.
  bool in_span() const;
  // Inside inline code of this line, outside of fences. A run of backticks that may open a fence is not inline code yet.
  bool in_inline_code() const {
    return fence_ == 0 && in_span() && !(run_leads_ && run_ >= kFence);
  }
  // At most three spaces stand before it on its line, and it is not quoted.
  bool line_start() const { return blank_ && indent_ <= kMaxIndent && fence_ == 0; }

 private:
  static constexpr std::size_t kMaxIndent = 3;
  static constexpr std::size_t kFence = 3;

  // What a line may begin with before its content.
  enum class Lead : std::uint8_t { open, bullet, number, over };

  void push_byte(char c);
  // Amid a line, behind nothing that the next byte belongs to.
  bool in_plain_text() const {
    return lead_ == Lead::over && run_ == 0 && !closes_fence_ && !escaped_;
  }
  void follow_lead(char c);
  void end_run();
  void end_line();
  bool indented_code() const { return indented_ || (blank_ && indent_ > kMaxIndent); }

  char fence_ = 0;                // the byte of the open fence, 0: none
  std::size_t fence_length_ = 0;  // of its run
  std::size_t fence_indent_ = 0;  // of its line
  bool blank_ = true;             // only white space so far on this line
  bool indented_ = false;         // the line began with more than three spaces
  Lead lead_ = Lead::open;        // over: the content of the line has begun
  bool quote_ = false;            // the line starts with `>`
  char opens_fence_ = 0;          // the byte of a run that opens a fence, unless a backtick follows
  bool closes_fence_ = false;     // the line is the open fence's closing run, so far
  bool escaped_ = false;          // the last byte was a backslash outside code
  std::size_t indent_ = 0;        // columns of white space at the start of the line
  std::size_t column_ = 0;        // of its content
  char run_byte_ = 0;             // of the run that is being read
  std::size_t run_ = 0;           // its length so far
  bool run_leads_ = false;        // it is the first thing on its line
  std::size_t span_ = 0;          // length of the run that opened inline code, 0: none
};

}  // namespace callgate::dialect
