// Words with a stop that ends no sentence: Mr.  e.g.  z.B.  J.  No. 5  Dr. med.
#pragma once

#include <cstdint>
#include <string_view>

namespace callgate::policy {

enum class StopKind : std::uint8_t {
  sentence,      // it may end a sentence
  abbreviation,  // it does not
  before_digit,  // it does not if a number follows: No. 5, Jan. 3
  number,        // of one or two digits: it may be an ordinal, as in 3. Oktober
};

// What the stop after `word` is. The word is what stands between white space and the stop, `before` the one before it.
StopKind kind_of_stop(std::string_view word, std::string_view before = {});

// Names of months and the like that follow a German ordinal.
bool follows_ordinal(std::string_view word);

}  // namespace callgate::policy
