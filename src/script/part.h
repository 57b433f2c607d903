// What a scripted model says in a turn, before it is cut into deltas and put on a wire.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "callgate/event.h"

namespace callgate::script {

enum class Voice : std::uint8_t { text, reasoning, refusal };

// Each piece starts a new delta; the cut that is in force may cut it further.
struct Say {
  Voice voice = Voice::text;
  std::vector<std::string> pieces;
};

struct Call {
  std::string name;
  std::vector<std::string> arguments;  // pieces, as in Say; joined they are the arguments
  std::string id;                      // empty: minted from the seed
};

struct Finish {
  FinishReason reason = FinishReason::stop;
};

using Part = std::variant<Say, Call, Usage, Finish>;

}  // namespace callgate::script
