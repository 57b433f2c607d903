// Messages as one text, for upstreams that take a single prompt. One message of the user is its text as it is; anything
// else has a heading per message:
//
//   [system]
//   Be brief.
//
//   [tool find call_1]
//   3 results
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "callgate/request.h"

namespace callgate::upstream {

// How many messages stand up to and with the last answer: the last message of the assistant that something else
// follows. What comes after them is new. 0 in a new conversation.
std::size_t answered(std::span<const Message> messages);

// No message is left out; parts other than text are. A text that holds earlier answers begins with a line that says
// what it is. Results of calls that were made in `earlier` messages are named after their tools.
std::string to_transcript(std::span<const Message> messages, std::span<const Message> earlier = {});

}  // namespace callgate::upstream
