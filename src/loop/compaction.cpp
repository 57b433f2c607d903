#include "loop/compaction.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "chat/content.h"
#include "chat/token_estimate.h"

namespace callgate::loop {
namespace {

constexpr std::int64_t kBytesPerToken = 3;   // few, so that enough goes at once
constexpr std::size_t kShortResult = 400;    // not worth leaving out
constexpr std::size_t kLeftOutBytes = 120;   // of the line in its place
constexpr std::size_t kMostArguments = 120;  // of a call that a line names

// Where the last round begins: its calls and their results stay. The size: there is none.
std::size_t last_round(const std::vector<Message>& messages) {
  for (std::size_t i = messages.size(); i > 0; --i) {
    if (!messages[i - 1].calls.empty()) return i - 1;
  }
  return messages.size();
}

// Gives how many bytes went.
std::size_t shorten_result(Message& message) {
  const std::size_t before = message.content.text.size();
  if (message.role != Role::tool || before < kShortResult) return 0;
  message.content = text_content("[" + std::to_string(before) +
                                 " bytes of this result were left out to save space. Call the tool "
                                 "again if they are needed.]");
  message.source = {};
  return before - std::min(before, message.content.text.size());
}

std::string line_of(const Message& round) {
  std::string line = "[Earlier calls, left out with their results to save space:";
  for (const CallRecord& call : round.calls) {
    line += " " + call.name + " " + call.arguments.substr(0, kMostArguments);
    line += call.arguments.size() > kMostArguments ? "...;" : ";";
  }
  line.back() = ']';
  return line;
}

std::size_t bytes_of(const Message& message) {
  std::size_t bytes = message.content.text.size();
  for (const CallRecord& call : message.calls) bytes += call.name.size() + call.arguments.size();
  for (const ExtraField& field : message.extra) bytes += field.value.text.size();
  return bytes;
}

// The round whose calls `messages[at]` has becomes one message of text. Gives how many bytes went.
std::size_t fold_round(std::vector<Message>& messages, std::size_t at) {
  std::size_t end = at + 1;
  while (end < messages.size() && messages[end].role == Role::tool) ++end;
  std::size_t before = 0;
  for (std::size_t i = at; i < end; ++i) before += bytes_of(messages[i]);
  Message folded;
  folded.role = Role::assistant;
  const std::string said = text_of(messages[at].content);
  folded.content = text_content((said.empty() ? "" : said + "\n") + line_of(messages[at]));
  messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                 messages.begin() + static_cast<std::ptrdiff_t>(end));
  messages[at] = std::move(folded);
  return before - std::min(before, bytes_of(messages[at]));
}

}  // namespace

std::int64_t spare_bytes(const std::vector<Message>& messages) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < last_round(messages); ++i) {
    const std::size_t size = messages[i].content.text.size();
    if (messages[i].role == Role::tool && size >= kShortResult) {
      bytes += static_cast<std::int64_t>(size - kLeftOutBytes);
    }
  }
  return bytes;
}

bool compact(Request& request, std::int64_t tokens) {
  std::int64_t excess = (estimate_tokens(request) - tokens) * kBytesPerToken;
  if (excess <= 0) return false;
  bool changed = false;
  std::vector<Message>& messages = request.messages;
  const std::size_t stays = last_round(messages);
  for (std::size_t i = 0; i < stays && excess > 0; ++i) {
    const std::size_t went = shorten_result(messages[i]);
    changed = changed || went > 0;
    excess -= static_cast<std::int64_t>(went);
  }
  for (std::size_t i = 0; i < last_round(messages) && excess > 0; ++i) {
    if (messages[i].calls.empty()) continue;
    excess -= static_cast<std::int64_t>(fold_round(messages, i));
    changed = true;
  }
  if (changed) request.body = {};
  return changed;
}

bool is_too_long_for_model(const Error& error) {
  if (error.upstream_code == "context_length_exceeded") return true;
  constexpr std::array<std::string_view, 6> kWords = {"context length",
                                                      "context window",
                                                      "prompt is too long",
                                                      "too many tokens",
                                                      "input length and `max_tokens` exceed",
                                                      "exceeds the available context"};
  const std::string message = to_lower(error.message);
  return error.code == ErrorCode::invalid_request &&
         std::any_of(kWords.begin(), kWords.end(), [&](std::string_view words) {
           return message.find(words) != std::string::npos;
         });
}

}  // namespace callgate::loop
