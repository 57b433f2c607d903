// What only its issuer can read, in the fields that a Responses client sends back unread: `encrypted_content` of reasoning and of
// compaction items.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::client {

// `format` of details that OpenAI's own items become; others are sealed.
inline constexpr std::string_view kOpenaiReasoning = "openai-responses-v1";

// A reasoning item of OpenAI's, its members as JSON. Its id is callgate's own: a server that keeps nothing refuses ids that it did not
// give, and takes items without one.
struct ReasoningMembers {
  std::string_view summary;
  std::string_view content;
  std::string_view encrypted;
  std::size_t index = 0;  // among the items of its answer
};
// The elements of `reasoning_details` that it becomes.
void each_openai_detail(const ReasoningMembers& item, FunctionRef<void(std::string_view)> visit);

// The element of `reasoning_details` in an `encrypted_content` that callgate wrote; nothing for any other.
std::optional<std::string> unseal_detail(std::string_view sealed);

// The parts of a summary, set apart by blank lines.
std::string summary_text(std::string_view parts);

// What a model wrote to go on from, as `encrypted_content`; nothing if it is too long. And back.
std::optional<std::string> seal_summary(std::string_view text);
std::optional<std::string> unseal_summary(std::string_view sealed);

}  // namespace callgate::client
