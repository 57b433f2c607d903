// Cuts streamed text into sentences, for voices that speak while the model still writes. A sentence leaves as soon as it is
// sure that it is over; where the text was cut on its way here makes no difference.
//
//   "Dr. Who paid $3.50. \"Really?\" she asked. Yes"
//   -> [Dr. Who paid $3.50. ] ["Really?" she asked. ] [Yes]
//
// The rules are those of Unicode (UAX 29) on ICU's character classes, read one character at a time, and some more:
// abbreviations, list numbers, no split inside code, URLs and numbers. Put together the sentences are the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "policy/abbreviations.h"

namespace callgate::policy {

struct SentenceOptions {
  std::size_t min_characters = 10;  // shorter ones join the next, white space not counted
  std::size_t max_bytes = std::size_t{64} << 10;  // what is longer is cut, code too
};

class SentenceSplitter {
 public:
  explicit SentenceSplitter(SentenceOptions options = {});

  // Gets each sentence that is sure. The view is valid during the call only.
  using Out = FunctionRef<void(std::string_view sentence)>;
  void push(std::string_view text, Out out);
  // The text pauses or ends: all that is held back leaves, be it white space alone.
  void flush(Out out);

 private:
  // Where we are after a stop.
  enum class Phase : std::uint8_t {
    text,
    stop,     // after it, or after what closes with it: ." .) .**
    space,    // after white space that follows
    ordinal,  // in the word after "3. "
    quote,    // after a closing or opening » after the space
    look,     // after signs that decide nothing; the next letter decides
    newline,  // after the end of a line
    fence,    // in a code block
  };
  struct Character;

  void scan(Out out, std::size_t end);
  void step(const Character& c, Out out);
  void step_text(const Character& c, Out out);
  void step_stop(const Character& c, Out out);
  void step_space(const Character& c, Out out);
  void step_soft_space(const Character& c, Out out);
  void step_ordinal(const Character& c, Out out);
  void step_quote(const Character& c, Out out);
  void step_look(const Character& c, Out out);
  void step_fence(const Character& c);
  bool step_fence_opening(const Character& c, Out out);
  // What stands between white space before `position`, in this sentence.
  std::string_view word_before(std::size_t position) const;
  void begin_stop(const Character& c);
  void begin_line();
  void end_ordinal(std::size_t word_end, Out out);
  void no_break(const Character& c, Out out);
  void break_at(std::size_t position, Out out, bool whole = false);
  bool emit(std::size_t end, Out out, bool whole);

  SentenceOptions options_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the sentence
  std::size_t at_ = 0;        // what is read
  std::size_t boundary_ = 0;  // phases ordinal, look: where the next sentence would begin
  Phase phase_ = Phase::text;
  StopKind stop_ = StopKind::sentence;
  bool soft_ = false;         // a full stop, which a small letter after it undoes
  bool wants_space_ = false;  // a stop of scripts that put spaces between words
  bool closed_ = false;       // a quote or bracket closed after the stop
  bool whole_ = false;        // phase newline: after a code block
  bool in_code_ = false;      // between two backticks
  bool line_start_ = true;
  std::size_t line_text_ = std::string::npos;  // where the line's text begins, if it is still here
  std::uint32_t looked_ = 0;
  // The fence: its sign, how many open it, how many the line has so far.
  char fence_ = 0;
  std::uint32_t fence_size_ = 0;
  std::uint32_t run_ = 0;
  bool opening_ = false;
  bool only_fence_ = false;  // the line can still close it
};

}  // namespace callgate::policy
