// A validating pull reader over one JSON text. It follows JavaScript where the standard leaves room: lone surrogate
// escapes are accepted (and become U+FFFD), numbers of any size are kept as text, of duplicate keys the last counts
// (the caller simply sees both). Values that are skipped are validated as well.
//
//   Reader in(R"({"id": "x", "n": 12345678901234567890, "rest": [1, 2]})");
//   for (std::string_view key; in.next_member(key);) {
//     if (key == "id") id = in.string();
//     else if (key == "n") n = in.number();      // "12345678901234567890"
//     else in.skip();
//   }
//   if (!in.finish()) report(in.error());
//
// After the first fault every call returns an empty or false result, and loops end: check once, at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/nesting.h"

namespace callgate::json {

enum class Kind : std::uint8_t { object, array, string, number, boolean, null, invalid };

struct ReadError {
  std::size_t offset = 0;
  std::string_view message;  // static text: what was expected
};

class Reader {
 public:
  // `text` must outlive the reader. Reusing one reader through reset() reuses its scratch memory.
  explicit Reader(std::string_view text = {});
  void reset(std::string_view text);

  // The kind of the value that comes next, nothing consumed.
  Kind peek();

  // Call where a value is expected to be an object: on the first call it enters it. True: `key` is the next
  // member's name (unescaped, valid until the next call of string() or next_member()) and its value must be consumed before the
  // next call. False: the object is over, or something is wrong (a value that is not an object is a fault).
  bool next_member(std::string_view& key);
  // The same for arrays.
  bool next_element();

  // The value, unescaped. The view is into the text where it has no escapes, else into scratch memory that the next
  // call of string() or next_member() reuses.
  std::string_view string();
  std::string_view number();  // its text, verbatim
  // A number that is integral and fits (5.0 does). Other numbers are consumed and give nothing; other kinds are a
  // fault, as everywhere.
  std::optional<std::int64_t> integer();
  bool boolean();
  void null();
  void skip();             // any value
  std::string_view raw();  // any value, its text verbatim without surrounding white space

  // Only white space is left and there was no fault.
  bool finish();
  bool failed() const { return failed_; }
  const ReadError& error() const { return error_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  // What was read from an earlier offset() to here.
  std::string_view since(std::size_t offset) const {
    return {begin_ + offset, static_cast<std::size_t>(at_ - begin_) - offset};
  }
  // A fault that the caller found: a value of the wrong kind and the like.
  void fail(std::string_view message);

 private:
  bool fault(const char* at, std::string_view message);
  const char* begin_value();
  bool close(const char* at);
  const char* enter(const char* at);
  const char* next_value(const char* at);
  const char* skip_name(const char* at);
  const char* expect_value(const char* at);
  const char* member_name_end(const char* at, bool& escaped);
  const char* scalar_end(const char* at);
  const char* string_end(const char* at, bool& escaped);
  const char* odd_string_end(const char* at, bool& escaped);
  const char* escape_end(const char* at);
  const char* number_end(const char* at);
  const char* digits_end(const char* at);
  const char* word_end(const char* at, std::string_view word);
  std::string_view text_of(std::string_view text, bool escaped);

  // After a fault at_ and end_ meet at depth 0: every later call finds the end of the text and does nothing.
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool expecting_ = true;  // a value comes next; else a comma, a closing bracket or the end
  bool failed_ = false;
  Nesting nesting_;
  ReadError error_;
  std::string scratch_;
};

}  // namespace callgate::json
