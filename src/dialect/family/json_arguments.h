// Arguments that are JSON on their way through: forwarded as they are written, checked while they pass. A control
// character inside a string is escaped, so that what leaves is JSON.
//
//   {"path": "a\tb", "n": 12345678901234567890}| }</tool_call>
//
// A value that is not JSON is forwarded too, to its matching bracket or to the next marker that ends a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dialect/marker_set.h"
#include "dialect/output.h"
#include "json/scanner.h"

namespace callgate::dialect {

struct Prose;

class JsonArguments {
 public:
  enum class State : std::uint8_t { inside, complete, malformed };

  struct Result {
    std::size_t used = 0;
    State state = State::inside;
    std::string_view replay = {};  // the marker that ended a broken value
  };

  // The markers of `prose` end a broken value. REQUIRES: `prose` outlives this.
  explicit JsonArguments(const Prose& prose) : prose_(prose) {}

  // The next byte is the first of the value. `decoded`: the bytes come out of a JSON string and are not those of the
  // input; the caller accounts for these, and nothing but finish() ends the value.
  void begin(bool decoded = false);
  // The same, of an object whose closing brace is read but not passed on: more members may come.
  void begin_open();
  Result push(std::string_view bytes, Output& out);
  // Only white space so far.
  bool is_blank() const { return !broken_ && scan_.state() == json::Scanner::State::before; }
  // The input, or the string, ends here.
  CallOutcome finish(Output& out, CallOutcome when_open = CallOutcome::truncated);

 private:
  void pass(std::string_view bytes, bool flush, Output& out);
  std::size_t push_segment(std::string_view bytes, Output& out);
  bool escape_control(char c, Output& out);
  void break_off(std::string_view seen);
  Result push_broken(std::string_view bytes, Output& out);
  std::size_t broken_end(std::string_view bytes);

  const Prose& prose_;
  json::Scanner scan_;
  bool decoded_ = false;
  bool keeps_brace_ = false;
  std::string tail_;  // an escape that is not whole, or may be half of a pair
  std::string scratch_;

  // A value that is not JSON: brackets and strings are counted as well as may be.
  bool broken_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  std::size_t depth_ = 0;
  std::unique_ptr<MarkerSet> ender_set_;
  std::unique_ptr<MarkerScan> ender_scan_;
};

}  // namespace callgate::dialect
