// One raw value of a tagged dialect on its way to JSON, typed by the schema while it streams.
//
//   string            Tokyo "bay"   ->  "Tokyo \"bay\""      leaves at once
//   integer, null     3             ->  3                    held back until its end
//   object            {"a": 1}      ->  {"a": 1}             held back until its end
//   object            {'a': True}   ->  {"a":true}           Python's literals are read as well
//   integer           three         ->  "three"              what does not fit its kinds stays a string
//
// A value that may be a string is one, verbatim; only the text `null` is null where null is allowed too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "dialect/family/schema_types.h"
#include "json/scanner.h"

namespace callgate::dialect {

class TaggedValue {
 public:
  // Starts a value of one of `kinds`; nothing known means string. Beyond `limit` bytes it is held back no longer.
  void begin(KindSet kinds, std::size_t limit, std::string& out);
  // Starts a value that says of itself that it is JSON.
  void begin_json(std::size_t limit, std::string& out);
  // Any cut of the raw bytes. Appends to `out` what is decided, in whole UTF-8 sequences.
  void push(std::string_view bytes, std::string& out);
  // The value's close marker came. False: what left is not JSON, since it was too long to be held back.
  bool end(std::string& out);
  // The turn ended inside the value: what is held back leaves as far as it goes, a string stays open.
  void cut(std::string& out);

  // A string that has nothing held back: plain bytes leave as they are.
  bool streams() const { return mode_ == Mode::string && held_.empty(); }

 private:
  enum class Mode : std::uint8_t {
    string,          // streams, escaped
    string_or_null,  // so far a beginning of `null`
    typed,           // all of it is held back
    json,            // the same, and any JSON value fits
    raw,             // too long to hold back: leaves as it is
  };

  void push_string(std::string_view bytes, std::string& out);
  void push_raw(std::string_view bytes, std::string& out);
  void push_held(std::string_view bytes, std::string& out);
  void become_string(std::string& out);

  Mode mode_ = Mode::string;
  KindSet kinds_;
  std::size_t limit_ = 0;
  json::Scanner scanner_;  // mode raw
  bool raw_is_json_ = true;
  std::string held_;  // modes string and raw: the beginning of a UTF-8 sequence
};

// JSON text as it may leave: control characters inside strings escaped, invalid UTF-8 replaced.
void append_clean_json(std::string& out, std::string_view json);
// `text` is one whole JSON value, white space around it allowed.
bool is_whole_json(std::string_view text);
// `text` is a number as JSON writes it.
bool is_json_number(std::string_view text);
// The value as JSON if it fits `kinds`, else as a JSON string.
void append_typed(std::string& out, std::string_view text, KindSet kinds);

}  // namespace callgate::dialect
