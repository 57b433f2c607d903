// Reasoning that only its issuer can read, inside a field of another protocol. The canonical form is an element of
// `reasoning_details`, whose `format` names the issuer. A client protocol without a place for it (a signature of Anthropic's, an
// encrypted item of OpenAI's) carries the element as opaque text and sends it back with the next request.
//
//   {"type":"reasoning.encrypted","data":"EmwK","format":"openai-responses-v1"}  <->  callgate.1.eyJ0eXBlIjoi...
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace callgate {

// Longer elements are not sealed: they would come back with every request of the conversation.
inline constexpr std::size_t kMaxSealedReasoning = std::size_t{256} << 10;

// What such text begins with.
inline constexpr std::string_view kReasoningSeal = "callgate.1.";

// The element, a JSON object, as opaque text; nothing if it is too long.
std::optional<std::string> seal_reasoning(std::string_view detail);

// The element in a text that seal_reasoning() wrote; nothing for any other text.
std::optional<std::string> unseal_reasoning(std::string_view text);

}  // namespace callgate
