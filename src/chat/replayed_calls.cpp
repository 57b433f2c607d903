#include "chat/replayed_calls.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "chat/content.h"
#include "json/writer.h"

namespace callgate {
namespace {

constexpr std::array<std::string_view, 7> kBlockTags = {
    "use_tool",      "tool_call",      "tool_calls",      "tool_result",
    "tool_response", "function_calls", "function_results"};

// The end of the block that begins with the `<` at `at`; npos: none begins there.
std::size_t block_end(std::string_view text, std::size_t at) {
  for (const std::string_view tag : kBlockTags) {
    const std::string_view rest = text.substr(at + 1);
    if (!rest.starts_with(tag) || rest.size() == tag.size()) continue;
    const char next = rest[tag.size()];
    if (next != '>' && next != ' ' && next != '\n') continue;
    const std::string close = "</" + std::string(tag) + ">";
    const std::size_t end = text.find(close, at);
    if (end != std::string_view::npos) return end + close.size();
  }
  return std::string_view::npos;
}

bool is_spoken(const Message& message) {
  return message.role == Role::user || message.role == Role::assistant;
}

RawJson stripped_content(const RawJson& content) {
  const std::vector<ContentPart> parts = parts_of(content);
  if (content.text.starts_with('"')) {
    return text_content(without_replayed_calls(text_of(content)));
  }
  RawJson made{"["};
  for (const ContentPart& part : parts) {
    std::string json = part.json;
    if (part.kind == ContentPart::Kind::text) {
      const std::string text = without_replayed_calls(part.text);
      if (text.empty() && !part.text.empty()) continue;
      if (text != part.text) {
        json = R"({"type":"text","text":)";
        json::append_string(json, text);
        json += '}';
      }
    }
    made.text.append(made.text.size() > 1 ? "," : "").append(json);
  }
  made.text += ']';
  return made;
}

bool has_replayed_calls(const Message& message) {
  if (!is_spoken(message) || message.content.text.find('<') == std::string::npos) return false;
  const std::vector<ContentPart> parts = parts_of(message.content);
  return std::any_of(parts.begin(), parts.end(), [](const ContentPart& part) {
    return part.kind == ContentPart::Kind::text && without_replayed_calls(part.text) != part.text;
  });
}

}  // namespace

std::string without_replayed_calls(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  // Each tag that is never closed costs a search to the end of the text: after so many of them nothing more is looked for.
  std::size_t misses = 0;
  constexpr std::size_t kMostMisses = 64;
  for (std::size_t at = text.find('<'); at != std::string_view::npos && misses < kMostMisses;
       at = text.find('<', at)) {
    const std::size_t end = block_end(text, at);
    if (end == std::string_view::npos) {
      const bool looks = text.substr(at + 1).starts_with("use_tool") ||
                         text.substr(at + 1).starts_with("tool_") ||
                         text.substr(at + 1).starts_with("function_");
      misses += looks ? 1 : 0;
      ++at;
      continue;
    }
    out.append(text.substr(from, at - from));
    from = at = end;
  }
  if (from == 0) return std::string(text);
  out.append(text.substr(from));
  return std::string(trimmed(out));
}

std::optional<std::size_t> find_replayed_calls(const std::vector<Message>& messages) {
  const auto found = std::find_if(messages.begin(), messages.end(), has_replayed_calls);
  if (found == messages.end()) return std::nullopt;
  return static_cast<std::size_t>(found - messages.begin());
}

void strip_replayed_calls(std::vector<Message>& messages) {
  std::erase_if(messages, [](Message& message) {
    if (!has_replayed_calls(message)) return false;
    message.content = stripped_content(message.content);
    message.source = {};
    return message.calls.empty() && parts_of(message.content).empty();
  });
}

}  // namespace callgate
