// The arguments of a gemma call on their way to JSON, while they stream.
//
//   city:<|"|>Paris<|"|>,days:3,opts:{deep:true},tags:[<|"|>a<|"|>]}
//   {"city":"Paris","days":3,"opts":{"deep":true},"tags":["a"]}
//
// Between two quote markers everything is data, backslashes too. Tolerated: quoted keys, `=` for `:`, "..." with JSON
// escapes, '...' without, bare words as strings, a value without its closing quote marker and arguments without their closing
// braces where the call's close marker follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/family/quoted_string.h"
#include "dialect/family/tagged_value.h"

namespace callgate::dialect {

struct GemmaMarkers {
  std::string_view quote;  // <|"|>
  std::string_view close;  // <tool_call|>, the call's own
};

class GemmaArguments {
 public:
  enum class State : std::uint8_t { open, closed, failed };

  // After the opening brace. REQUIRES: the markers' text outlives this.
  void begin(const GemmaMarkers& markers, std::string& out);
  // Reads until the closing brace, the call's close marker or a fault; returns how many bytes were used.
  std::size_t push(std::string_view bytes, std::string& out);
  // The turn ended here. Decides what waited for more; false: the arguments are cut.
  bool finish(std::string& out);
  State state() const { return state_; }
  // Inside a text that has nothing held back: plain bytes leave as they are.
  bool streams() const { return at_ == At::text && marker_.empty() && value_.streams(); }
  // The call's close marker was read, too.
  bool read_close_marker() const { return read_close_marker_; }
  // A marker, or the beginning of one, that was used but stands behind the end of the call.
  std::string_view leftover() const { return leftover_; }
  // How many of the last bytes used may still become leftover; at the end, those that are.
  std::size_t undecided() const {
    return state_ == State::open ? closers_.size() + marker_.size() : leftover_.size();
  }

 private:
  enum class At : std::uint8_t {
    key,
    key_word,
    colon,
    value,
    word,
    text,          // between quote markers
    text_closers,  // in there, at braces that may be the arguments' own
    text_close,    // in there, behind the call's close marker: is it data?
    json_text,
    single_text,
    single_quote,  // in there, at a quote: does it close?
    after_value,
  };
  struct Open {
    char close;         // the byte that closes it
    std::size_t count;  // elements so far
  };

  std::size_t push_text(std::string_view bytes, std::string& out);
  bool step(char c, std::string& out);
  bool step_key(char c, std::string& out);
  bool step_key_word(char c, std::string& out);
  bool step_value(char c, std::string& out);
  bool step_word(char c, std::string& out);
  bool step_after_value(char c, std::string& out);
  bool step_text_closers(char c, std::string& out);
  bool step_text_close(char c, std::string& out);
  bool step_marker(char c, std::string& out);
  bool match_quote(std::string& out);
  bool match_close(std::string& out);
  void no_marker(std::string& out);
  void closers_are_data(std::string& out);
  void end_at_closers(std::string& out);
  void begin_text(At at, bool is_key, std::string& out);
  void end_text(std::string& out);
  void begin_element(std::string& out);
  void begin_word();
  void finish_word(std::string_view word, std::string& out);
  bool open(char c, std::string& out);
  bool close(char c, std::string& out);
  void close_all(std::string& out);
  bool fail();

  State state_ = State::closed;
  At at_ = At::key;
  GemmaMarkers markers_;
  std::vector<Open> stack_;
  TaggedValue value_;    // the text between quote markers or single quotes
  QuotedString quoted_;  // the text between double quotes
  bool text_is_key_ = false;
  bool read_close_marker_ = false;
  std::string word_;
  std::size_t comma_ = std::string::npos;  // in word_: the comma that may end it
  std::string marker_;                     // the beginning of a marker
  std::string
      closers_;  // held back in a text: braces, then perhaps the close marker and white space
  std::size_t text_end_ = 0;  // in closers_: where the close marker begins
  std::string leftover_;
};

}  // namespace callgate::dialect
