// How a family of dialects plugs in. TurnParser (turn_parser.h) reads prose: text, reasoning envelopes, sections, the
// openers and closers of calls, the tokens that end a turn. When it has read a call opener it hands the bytes after it
// to the family's CallReader, until that says that it is done:
//
//   <tool_call>  {"name": "f", "arguments": {"a": 1}}  </tool_call>  text
//   TurnParser   CallReader ......................... TurnParser ......
//
// The reader hands each byte that it uses to `out` at once: out.hold() for structure, out.argument_bytes() for arguments
// (and out.arguments() for the JSON that they are). The opener is already held. Nothing is lost while the reader is
// undecided: held bytes leave as prose when it rejects. The reader need not read the close marker: TurnParser takes a
// close marker after a call as structure. A reader may read several calls (an array) before it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "dialect/output.h"

namespace callgate::dialect {

struct Step {
  enum class Next : std::uint8_t {
    more,      // the reader wants to go on; it stops early only behind a finished call
    closed,    // calls were read (or an empty list of them); the rest is prose
    rejected,  // this is not a call; what is held leaves as prose, the rest is prose
  };
  std::size_t used = 0;
  Next next = Next::more;
  // Used in an earlier push or this one, but it is a marker behind the call: TurnParser reads it ahead of the rest.
  // Taken back with out.unhold() or out.unread_arguments(). In static storage, or in a buffer of the reader that reading
  // these bytes does not change.
  std::string_view replay = {};
};

class CallReader {
 public:
  virtual ~CallReader() = default;
  // `opener` is the index in Prose::call_open. The reader starts afresh.
  virtual void open(std::size_t opener, Output& out) = 0;
  virtual Step push(std::string_view bytes, Output& out) = 0;
  // The turn ends inside. An open call is finished; what is held afterwards leaves as prose.
  virtual void finish(Output& out) = 0;
  // As much is held back as may be, and no call has started. True: the reader started one and goes on. False: what
  // is held leaves as prose.
  virtual bool overflow(Output& out) {
    static_cast<void>(out);
    return false;
  }
};

}  // namespace callgate::dialect
