// One call of a tagged dialect, read from a whole turn, and the markers that it is made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/reference/reference.h"
#include "dialect/reference/tagged_tag.h"
#include "dialect/reference/tagged_turn.h"

namespace callgate::dialect::reference::tagged {

using Texts = std::vector<std::string>;

struct Markers {
  Texts leads;  // before the call's tag
  Tag call;
  std::string call_close;
  Tag parameter;
  std::string value_open;
  std::string value_close;
  std::string type_key;  // the attribute that says what a value is
  Texts fillers;         // structure between arguments
  Texts section_closes;
  Texts tails;
  std::string raw_open;
  std::string raw_close;
  bool newlines = false;       // one at each end of a value is structure
  bool hides_cut_tag = false;  // a call's tag that the turn ends in may be hidden
};

// Reads from an opener at `at`.
CallRead read_tagged_call(const ReferenceCase& turn, const Markers& markers, std::size_t at);

// The longest of the texts that stands there, or none.
std::string longest_at(std::string_view text, std::size_t at, const Texts& list);

}  // namespace callgate::dialect::reference::tagged
