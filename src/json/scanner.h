// An incremental JSON validator: fed any fragments of one value, it knows at each byte where it is. It copies nothing
// and allocates nothing. Used for call arguments that stream past: where does the value end, and where may a fragment
// be cut so that no client sees half a character?
//
//   {"city": "Par|is \uD83D|\uDE00", "days": 3}| trailing
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "json/reader.h"

namespace callgate::json {

class Scanner {
 public:
  enum class State : std::uint8_t {
    before,  // only white space so far
    inside,  // in the value
    closed,  // the value is complete. A top-level number, true, false or null closes only at finish() or at the
             // first byte after it
    failed,  // not JSON
  };

  // Reads until the value closes, fails, or the bytes end; returns how many bytes belong to the value (white space
  // before it included). Bytes after the close are not consumed. After a failure nothing is consumed.
  std::size_t push(std::string_view bytes);
  // The input ends here: a top-level scalar that is complete closes. Returns true when the value is closed.
  bool finish();
  void reset();

  State state() const;
  bool in_string() const;
  std::size_t depth() const;  // open objects and arrays
  // How many of the last bytes pushed must be held back so that a fragment ends on a safe boundary: an incomplete
  // UTF-8 sequence, an incomplete escape, or a high surrogate escape whose other half may follow. At most 11.
  std::size_t unsafe_tail() const;
};

}  // namespace callgate::json
