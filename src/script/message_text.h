// The text of a message, whatever shape its content has:
//   "What is new?"      [{"type": "text", "text": "What is"}, {"type": "image_url", ...}]      null
#pragma once

#include <string>
#include <string_view>

#include "callgate/request.h"

namespace callgate::script {

// Text parts are joined by a line feed. Content that is neither a string nor an array gives its JSON text.
std::string any_text_of(const RawJson& content);

// The text of the last message with that role, empty when there is none.
std::string last_text(const Request& request, Role role);

// How often the assistant has spoken: 0 in a new conversation.
std::uint32_t turn_number(const Request& request);

// A count that stands for tokens: a quarter of the bytes, rounded up.
std::int64_t count_of(std::size_t bytes);
std::int64_t prompt_count(const Request& request);

}  // namespace callgate::script
