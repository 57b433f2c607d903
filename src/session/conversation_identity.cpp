#include "session/conversation_identity.h"

#include <charconv>
#include <utility>

#include "base/text.h"
#include "chat/content.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/transcript.h"

namespace callgate::server {
namespace {

std::string_view without_space_before(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view without_space_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// Clients that are sent reasoning as <think>...</think> send it back or not.
std::string_view without_reasoning(std::string_view text) {
  constexpr std::string_view kOpen = "<think>";
  constexpr std::string_view kClose = "</think>";
  const std::string_view start = without_space_before(text);
  if (!start.starts_with(kOpen)) return start;
  const std::size_t close = start.find(kClose);
  if (close == std::string_view::npos) return start;
  return without_space_before(start.substr(close + kClose.size()));
}

bool is_json(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

// Where the string that begins at `at` ends. REQUIRES: valid JSON.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

// Without white space, and with strings escaped in one way only. Numbers stay as they are.
std::string canonical_json(std::string_view json) {
  if (!is_json(json)) return std::string(trimmed(json));
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      const std::size_t end = string_end(json, at);
      json::Reader in(json.substr(at, end - at));
      json::append_string(out, in.string());
      at = end;
    } else {
      if (kSpace.find(json[at]) == std::string_view::npos) out.push_back(json[at]);
      ++at;
    }
  }
  return out;
}

void append_call(std::string& out, const CallRecord& call, bool with_ids) {
  const auto append = [&](std::string_view field) {
    out.append(std::to_string(field.size())).append(":").append(field);
  };
  append(with_ids ? std::string_view(call.id) : std::string_view());
  append(call.name);
  append(canonical_json(call.arguments));
}

CanonicalAnswer canonical_answer(const Message& message, bool with_ids) {
  CanonicalAnswer answer;
  const std::string text = text_of(message.content);
  answer.text = without_reasoning(text);
  for (const CallRecord& call : message.calls) append_call(answer.calls, call, with_ids);
  return answer;
}

std::string_view to_view(const Identity& identity) {
  return {reinterpret_cast<const char*>(identity.data()), identity.size()};
}

std::string_view role_letter(Role role) {
  switch (role) {
    case Role::system:
    case Role::developer:
      return "s";
    case Role::user:
      return "u";
    case Role::assistant:
      return "a";
    case Role::tool:
      return "t";
  }
  return {};
}

Identity follow_message(const Identity& before, const Message& message, bool with_ids) {
  if (message.role == Role::assistant) return follow(before, canonical_answer(message, with_ids));
  Sha256 digest;
  digest.push(to_view(before)).push_field(role_letter(message.role)).push_field(message.name);
  digest.push_field(with_ids ? std::string_view(message.tool_call_id) : std::string_view());
  const std::string text = text_of(message.content);
  digest.push_field(trimmed(text));
  for (const ContentPart& part : parts_of(message.content)) {
    if (part.kind != ContentPart::Kind::text) digest.push_field(part.json);
  }
  return digest.finish();
}

Identity start(const ConversationScope& scope) {
  return Sha256()
      .push_field(scope.key_name)
      .push_field(scope.upstream)
      .push_field(scope.model)
      .push_field(scope.session)
      .finish();
}

// The text alone: calls and results are the first that clients leave out.
Identity open(const Identity& question, std::string_view answer) {
  const std::string_view text = trimmed(answer);
  if (text.empty()) return {};
  return Sha256().push(to_view(question)).push_field(text).finish();
}

}  // namespace

bool CanonicalAnswer::begins_with(const CanonicalAnswer& other) const {
  return !other.empty() && text.starts_with(without_space_behind(other.text)) &&
         calls.starts_with(other.calls);
}

Identity follow(const Identity& whole, const CanonicalAnswer& answer) {
  return Sha256()
      .push(to_view(whole))
      .push_field(role_letter(Role::assistant))
      .push_field(without_space_behind(answer.text))
      .push_field(answer.calls)
      .finish();
}

ConversationIdentity identify(const Request& asked, const ConversationScope& scope) {
  ConversationIdentity who;
  who.with_ids = !asked.legacy_functions;
  who.answered = upstream::answered(asked.messages);
  who.whole = start(scope);
  who.question = who.whole;
  bool asked_first = false;
  bool answered_first = false;
  for (std::size_t i = 0; i < asked.messages.size(); ++i) {
    const Message& message = asked.messages[i];
    if (message.role == Role::user && !std::exchange(asked_first, true)) {
      who.question = follow_message(who.question, message, who.with_ids);
    }
    if (message.role == Role::assistant && !std::exchange(answered_first, true)) {
      who.opening = open(who.question, canonical_answer(message, who.with_ids).text);
    }
    if (i + 1 == who.answered) {
      who.before = who.whole;
      who.last = canonical_answer(message, who.with_ids);
    }
    if (scope.session.empty() || !is_prompt(message)) {
      who.whole = follow_message(who.whole, message, who.with_ids);
    }
    if (i + 1 == who.answered) who.answer = who.whole;
  }
  return who;
}

Identity opening_of(const ConversationIdentity& who, const CanonicalAnswer& answer) {
  return who.answered > 0 ? who.opening : open(who.question, answer.text);
}

std::string to_hex(const Identity& identity) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : identity) {
    hex.push_back(kHex[byte >> 4]);
    hex.push_back(kHex[byte & 15]);
  }
  return hex;
}

Identity from_hex(std::string_view hex) {
  Identity identity{};
  if (hex.size() != 2 * identity.size()) return identity;
  for (std::size_t i = 0; i < identity.size(); ++i) {
    const char* at = hex.data() + 2 * i;
    if (std::from_chars(at, at + 2, identity[i], 16).ptr != at + 2) return {};
  }
  return identity;
}

std::size_t count_leading_system(std::span<const Message> messages) {
  std::size_t count = 0;
  while (count < messages.size() && is_prompt(messages[count])) ++count;
  return count;
}

Identity identify_prompt(std::span<const Message> messages) {
  Identity identity{};
  for (const Message& message : messages.first(count_leading_system(messages))) {
    identity = follow_message(identity, message, true);
  }
  return identity;
}

void AnswerRecord::accept(const Event& event) {
  if (overflowed()) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text_ += e.text; },
                 [&](const ReasoningDelta&) {},
                 [&](const RefusalDelta& e) { text_ += e.text; },
                 [&](const CallStarted& e) {
                   Call& call = calls_.emplace_back();
                   call.record.id = e.native_id;
                   call.record.name = e.name;
                 },
                 [&](const ArgumentsDelta& e) {
                   calls_.back().record.arguments += e.bytes;
                   arguments_ += e.bytes.size();
                 },
                 [&](const CallFinished& e) {
                   calls_.back().complete = e.outcome != CallOutcome::truncated;
                 },
                 [&](const FieldReported&) {},
                 [&](const UsageReported&) {},
                 [&](const TurnFinished&) {},
             },
             event);
}

CanonicalAnswer AnswerRecord::to_canonical(bool with_ids) const {
  CanonicalAnswer answer;
  answer.text = without_reasoning(text_);
  for (const Call& call : calls_) {
    if (call.complete) append_call(answer.calls, call.record, with_ids);
  }
  return answer;
}

}  // namespace callgate::server
