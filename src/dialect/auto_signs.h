// What `auto` watches for: the openers of all dialects, the tags of reasoning, the tokens that end a turn.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dialect/marker_set.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

// An opener and the dialect that it is a sign of.
struct Sign {
  // What the bytes after the opener still have to say.
  enum class Look : std::uint8_t {
    none,        // nothing: the opener names one dialect
    tool_call,   // after <tool_call>
    tool_calls,  // after <tool_calls>
    invokes,     // after <function_calls>
    list,        // after [: JSON or Python calls
    token_list,  // after <|tool_calls|>
    tag,         // after <: the name of a declared tool
  };
  enum class Kind : std::uint8_t {
    text,   // a person may well write it: it counts at the start of a line
    first,  // the same, and only at the start of the turn
    token,  // a special token of its model
    turn,   // a token that also structures whole turns: at the start of one it says who writes it
  };
  std::string_view text;
  std::string_view dialect;
  Kind kind = Kind::text;
  Look look = Look::none;
  bool section = false;  // tags that open calls by themselves may follow it
};

std::span<const Sign> auto_signs();

// The first opens at the start of a turn; the prompt may have opened any of them.
std::span<const Envelope> auto_reasoning();

// The ends of sections.
std::span<const std::string_view> auto_section_ends();

// Tokens that end a turn: structure when nothing follows them.
std::span<const std::string_view> auto_tails();

// What a marker is: an index into the signs, the section ends, the envelopes or the tails.
struct Watched {
  enum class Role : std::uint8_t { sign, section_end, reasoning_open, reasoning_close, tail };
  Role role;
  std::size_t index;
};

// What a dialect beyond those of this library adds. REQUIRES: the dialect and all texts outlive the list.
struct OwnSigns {
  const Dialect* dialect = nullptr;
  std::vector<Sign> signs;
  std::vector<Envelope> reasoning;
  std::vector<std::string_view> tails;
};

// All of the above as one set of markers; watched[i] says what marker i is. A sign of an own dialect replaces one of this
// library's with the same text.
struct WatchList {
  explicit WatchList(std::vector<OwnSigns> own = {});

  // The dialect of a sign. REQUIRES: it is known.
  const Dialect& dialect(std::string_view name) const;
  // The dialect's calls begin with what a person may write.
  bool calls_in_text(std::string_view dialect) const;

  std::vector<const Dialect*> own;
  std::vector<Sign> signs;
  std::vector<Watched> watched;
  MarkerSet set;

 private:
  std::vector<std::string_view> texts(const std::vector<OwnSigns>& added);
};

// One per thread, so that nothing is locked.
const WatchList& watch_list();

}  // namespace callgate::dialect
