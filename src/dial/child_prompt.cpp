#include "dial/child_prompt.h"

#include <algorithm>

#include "chat/content.h"

namespace callgate::server {
namespace {

// Lengths before texts: no two conversations give the same bytes.
void put(std::string& bytes, std::string_view text) {
  bytes.append(std::to_string(text.size())).append(":").append(text);
}

void put_message(std::string& bytes, const Message& message) {
  bytes.push_back(static_cast<char>('0' + static_cast<int>(message.role)));
  for (const ContentPart& part : parts_of(message.content)) {
    const bool is_text = part.kind == ContentPart::Kind::text;
    put(bytes, is_text ? part.text : part.json);
  }
  put(bytes, message.tool_call_id);
  for (const CallRecord& call : message.calls) {
    put(bytes, call.id);
    put(bytes, call.name);
    put(bytes, call.arguments);
  }
}

std::uint64_t hash_of(const Request& request, std::size_t count, const HashKey& key) {
  std::string bytes;
  put(bytes, request.model);
  bytes.push_back(request.tool_choice.mode == ToolChoice::Mode::none ? 'n' : 't');
  for (const ToolSpec& tool : request.tools) {
    put(bytes, tool.name);
    put(bytes, tool.description);
    put(bytes, tool.parameters.text);
  }
  for (std::size_t i = 0; i < count; ++i) put_message(bytes, request.messages[i]);
  return keyed_hash(key, bytes);
}

bool all_have(const std::vector<Message>& messages, std::size_t begin, Role role) {
  return begin < messages.size() &&
         std::all_of(messages.begin() + static_cast<std::ptrdiff_t>(begin), messages.end(),
                     [&](const Message& message) { return message.role == role; });
}

}  // namespace

std::uint64_t words_of(std::string_view text, const HashKey& key) {
  std::string words;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') words.push_back(c);
  }
  return keyed_hash(key, words);
}

ChildPrompt make_child_prompt(const Request& request, std::string_view body, const HashKey& key) {
  ChildPrompt prompt{.body = std::string(body), .model = request.model};
  for (const ToolSpec& tool : request.tools) prompt.tools.insert(tool.name);
  const std::vector<Message>& messages = request.messages;
  prompt.history = hash_of(request, messages.size(), key);
  std::size_t last = messages.size();
  while (last > 0 && messages[last - 1].role != Role::assistant) --last;
  if (last == 0) return prompt;
  const Message& said = messages[last - 1];
  prompt.before = hash_of(request, last - 1, key);
  prompt.answer = words_of(text_of(said.content), key);
  for (const CallRecord& call : said.calls) prompt.called.push_back(call.id);
  if (said.calls.empty() && all_have(messages, last, Role::user)) {
    prompt.follows = ChildPrompt::Follows::answer;
  } else if (!said.calls.empty() && all_have(messages, last, Role::tool)) {
    prompt.follows = ChildPrompt::Follows::calls;
  }
  return prompt;
}

}  // namespace callgate::server
