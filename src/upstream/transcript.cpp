#include "upstream/transcript.h"

#include <algorithm>
#include <string_view>

#include "chat/call_names.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kReplay = "This is a conversation so far. Answer its last message.\n\n";
constexpr std::string_view kOpenEnd =
    "This is a conversation so far. Go on where its last message ends.\n\n";
constexpr std::string_view kNoOutput = "(no output)";

bool is_answer(const Message& message) { return message.role == Role::assistant; }

void append_word(std::string& out, std::string_view word) {
  if (!word.empty()) out.append(" ").append(word);
}

void append_heading(std::string& out, std::string_view tool, const Message& message) {
  out.push_back('[');
  switch (message.role) {
    case Role::system:
    case Role::developer:
      out += "system";
      break;
    case Role::user:
      out += "user";
      append_word(out, message.name);
      break;
    case Role::assistant:
      out += "assistant";
      break;
    case Role::tool:
      out += "tool";
      append_word(out, tool);
      append_word(out, message.tool_call_id);
      break;
  }
  out += "]\n";
}

void append_transcript(std::string& out, const Message& message) {
  const std::string text = text_of(message.content);
  out += text.empty() && message.role == Role::tool ? std::string(kNoOutput) : text;
  for (const CallRecord& call : message.calls) {
    if (!out.ends_with('\n')) out.push_back('\n');
    out.append("(called ").append(call.name);
    append_word(out, call.id);
    out.append(": ").append(call.arguments).push_back(')');
  }
}

}  // namespace

std::size_t answered(std::span<const Message> messages) {
  std::size_t end = messages.size();
  while (end > 0 && is_answer(messages[end - 1])) --end;
  while (end > 0 && !is_answer(messages[end - 1])) --end;
  return end;
}

std::string to_transcript(std::span<const Message> messages, std::span<const Message> earlier) {
  if (messages.size() == 1 && messages[0].role == Role::user && messages[0].name.empty()) {
    return text_of(messages[0].content);
  }
  std::string out;
  if (std::any_of(messages.begin(), messages.end(), is_answer)) {
    out = is_answer(messages.back()) ? kOpenEnd : kReplay;
  }
  CallNames names;
  for (const Message& message : earlier) names.add(message);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (i > 0) out += "\n\n";
    std::string_view tool;
    if (message.role == Role::tool) tool = names.find(message.tool_call_id);
    append_heading(out, tool.empty() ? std::string_view(message.name) : tool, message);
    append_transcript(out, message);
    names.add(message);
  }
  return out;
}

}  // namespace callgate::upstream
