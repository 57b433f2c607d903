// How a text becomes deltas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::script {

struct Cut {
  enum class Unit : std::uint8_t {
    whole,       // not cut
    words,       // after each run of white space
    characters,  // at most `size` bytes, never inside a UTF-8 sequence (one sequence may be longer)
    bytes,       // exactly `size` bytes, also inside a UTF-8 sequence
  };
  Unit unit = Unit::whole;
  std::size_t size = 0;

  bool operator==(const Cut&) const = default;
};

// Calls `on_piece` for each piece in order; joined they are `text`. No piece is empty.
void for_each_piece(std::string_view text, const Cut& cut,
                    FunctionRef<void(std::string_view)> on_piece);

}  // namespace callgate::script
