// An incremental JSON validator: fed any fragments of one value, it knows at each byte where it is. It copies nothing
// and allocates nothing. Used for call arguments that stream past: where does the value end, and where may a fragment
// be cut so that no client sees half a character?
//
//   {"city": "Par|is \uD83D|\uDE00", "days": 3}| trailing
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/nesting.h"

namespace callgate::json {

class Scanner {
 public:
  enum class State : std::uint8_t {
    before,  // only white space so far
    inside,  // in the value
    closed,  // the value is complete
    failed,  // not JSON
  };

  // Reads until the value closes, fails, or the bytes end; returns how many bytes belong to the value (white space
  // before it included). Bytes after the close are not consumed. After a failure nothing is consumed. A top-level
  // number, true, false or null closes only at finish() or at the first byte after it.
  std::size_t push(std::string_view bytes);
  // The input ends here: a top-level scalar that is complete closes. Returns true when the value is closed.
  bool finish();
  void reset();

  State state() const;
  bool in_string() const {
    return place_ == Place::string || place_ == Place::escape || place_ == Place::hex;
  }
  std::size_t depth() const { return nesting_.depth(); }  // open objects and arrays
  // How many of the last bytes pushed must be held back so that a fragment ends on a safe boundary: an incomplete
  // UTF-8 sequence, an incomplete escape, or a high surrogate escape whose other half may follow. At most 11.
  std::size_t unsafe_tail() const {
    const bool plain =
        !in_string() || (place_ == Place::string && !after_high_ && recent_ < kTailByte);
    return plain ? 0 : unsafe_tail_in_string();
  }
  // Appends what would close the value here once the last unsafe_tail() bytes are taken away: the quote of a string, the
  // rest of a word, brackets and braces. False, and nothing is appended, where closing is a guess: in or after a
  // name, after a colon or a comma, in a number.
  bool append_closing(std::string& out) const;
  // A control character stood in a string as it is. Models write that; JSON, and our reader, refuse it.
  bool saw_raw_control() const { return saw_raw_control_; }

 private:
  enum class Place : std::uint8_t {
    before,
    closed,
    failed,
    value,
    element_or_end,
    name_or_end,
    name,
    colon,
    comma_or_end,
    string,
    escape,  // after a backslash
    hex,     // after \u
    word,    // in true, false or null
    minus,
    zero,
    integer,
    point,
    fraction,
    exponent_mark,
    exponent_sign,
    exponent,
  };

  static constexpr std::uint32_t kTailByte = 0x80000000;  // a last byte that is not ASCII

  std::size_t push_any(std::string_view bytes);
  std::size_t unsafe_tail_in_string() const;
  const char* scan_string(const char* at, const char* end);
  bool step(char c);
  bool step_value(char c);
  bool step_escape(char c);
  bool step_hex(char c);
  bool step_word(char c);
  bool step_number(char c);
  bool open(bool object);
  bool close();
  bool go(Place next);
  void end_value();
  bool fail();
  bool scalar_complete() const;
  void remember(const char* end, std::size_t size);

  Place place_ = Place::before;
  bool is_name_ = false;  // the string that we are in
  bool after_high_ =
      false;  // a \uD83D is right before here, and what follows it may be its other half
  bool saw_raw_control_ = false;
  std::uint8_t hex_digits_ = 0;
  std::uint16_t hex_unit_ = 0;
  std::uint32_t recent_ =
      0;  // the last four bytes read, the very last on top: where a cut UTF-8 sequence shows
  std::string_view word_rest_;
  Nesting nesting_;
};

}  // namespace callgate::json
