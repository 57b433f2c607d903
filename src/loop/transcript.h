// A conversation as one text, for a model that is to summarize it.
//
//   User: Where is ORD-42?
//   Assistant: I look it up.
//   Call: lookup_order {"id": "ORD-42"}
//   Result: {"status": "shipped", ...
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "callgate/request.h"

namespace callgate::loop {

// At most about `room` bytes: what is long loses its middle, all of it evenly.
std::string print_transcript(const std::vector<const Message*>& messages, std::size_t room);

}  // namespace callgate::loop
