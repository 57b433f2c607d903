// The system prompt and the messages of a Messages request. A message of the API may become several canonical ones: the results of
// calls come first, each a message of its own.
#include <utility>

#include "chat/content.h"
#include "chat/message_json.h"
#include "chat/sealed_reasoning.h"
#include "client/anthropic_messages/messages_reasoning.h"
#include "client/anthropic_messages/messages_request.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// Claude Code says here which version it is. It changes from request to request, so that no prompt cache would ever match, and
// says nothing to a model.
constexpr std::string_view kBillingNote = "\"x-anthropic-billing-header:";

// The ids that the API takes.
bool is_plain_id(std::string_view id) {
  if (id.empty() || id.starts_with("cg_")) return false;
  for (const char c : id) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') return false;
  }
  return true;
}

}  // namespace

bool MessagesReader::read_system(std::string_view json) {
  const Path path("system");
  std::vector<std::string> parts;
  if (json.starts_with('[')) {
    json::Reader in(json);
    for (std::size_t i = 0; in.next_element(); ++i) {
      const Path at(path, i);
      const auto block = blocks_.read(at, in.raw());
      if (!block) return false;
      if (block->text.starts_with(kBillingNote)) continue;
      if (!blocks_.append_parts(at, *block, parts)) return false;
    }
  } else if (!blocks_.append_content(path, json, parts)) {
    return false;
  }
  if (parts.empty() || std::exchange(has_system_, true)) return true;
  Message message{.role = Role::system};
  message.content.text = content_of(parts);
  message.source = span_of(json);
  request_.messages.insert(request_.messages.begin(), std::move(message));
  return true;
}

bool MessagesReader::read_messages(std::string_view json) {
  const Path path("messages");
  if (!blocks_.expect(path, json, json.starts_with('['), "an array of messages")) return false;
  json::Reader in(json);
  std::size_t index = 0;
  for (; in.next_element(); ++index) {
    if (!read_message(Path(path, index), in.raw())) return false;
  }
  has_messages_ = true;
  return index > 0 || blocks_.fault(path, "empty", "at least one message");
}

bool MessagesReader::read_message(const Path& path, std::string_view json) {
  if (!blocks_.expect(path, json, json.starts_with('{'), "an object")) return false;
  std::string_view role;
  std::string_view content;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    std::string_view* member = key == "role" ? &role : key == "content" ? &content : nullptr;
    const std::string_view value = in.raw();
    if (member != nullptr) *member = value;
  }
  const Path role_path(path, "role");
  std::string name;
  if (!blocks_.take_text(role_path, role, name)) return false;
  const auto known = find_role(name);
  const bool good = known == Role::user || known == Role::assistant || known == Role::system;
  if (!good) {
    std::string word;
    json::append_string(word, std::string_view(name).substr(0, 64));
    return blocks_.fault(role_path, word, "user or assistant");
  }
  const Path content_path(path, "content");
  if (!blocks_.expect(content_path, content, content.starts_with('"') || content.starts_with('['),
                      "a string or an array of content blocks")) {
    return false;
  }
  const std::size_t first = request_.messages.size();
  verbatim_ = true;
  const bool read = known == Role::assistant ? read_assistant(content_path, content)
                                             : read_user(content_path, content, *known);
  if (!read || !verbatim_) return read;
  for (std::size_t i = first; i < request_.messages.size(); ++i) {
    request_.messages[i].source = span_of(json);
  }
  return true;
}

bool MessagesReader::read_user(const Path& path, std::string_view content, Role role) {
  std::vector<std::string> parts;
  bool results = false;
  if (content.starts_with('"')) {
    if (!blocks_.append_content(path, content, parts)) return false;
  } else {
    json::Reader in(content);
    for (std::size_t i = 0; in.next_element(); ++i) {
      const Path at(path, i);
      const auto block = blocks_.read(at, in.raw());
      if (!block) return false;
      const bool result = block->type == "tool_result";
      results = results || result;
      const bool good = result ? read_result(at, *block) : blocks_.append_parts(at, *block, parts);
      if (!good) return false;
    }
  }
  if (parts.empty() && results) return true;
  Message& message = request_.messages.emplace_back(Message{.role = role});
  message.content.text = parts.empty() ? "\"\"" : content_of(parts);
  return true;
}

bool MessagesReader::read_result(const Path& path, const MessagesBlock& block) {
  Message message{.role = Role::tool};
  if (!blocks_.take_text(Path(path, "tool_use_id"), block.tool_use_id, message.tool_call_id)) {
    return false;
  }
  verbatim_ = verbatim_ && is_plain_id(message.tool_call_id);
  std::vector<std::string> parts;
  if (!block.content.empty() &&
      !blocks_.append_content(Path(path, "content"), block.content, parts)) {
    return false;
  }
  message.content.text = parts.empty() ? "\"\"" : content_of(parts);
  if (block.is_error == "true") message.extra.push_back({"is_error", {"true"}});
  request_.messages.push_back(std::move(message));
  return true;
}

bool MessagesReader::read_assistant(const Path& path, std::string_view content) {
  Message message{.role = Role::assistant};
  std::vector<std::string> parts;
  ReturnedReasoning reasoning;
  if (content.starts_with('"')) {
    if (content != "\"\"" && !blocks_.append_content(path, content, parts)) return false;
  } else {
    json::Reader in(content);
    for (std::size_t i = 0; in.next_element(); ++i) {
      const Path at(path, i);
      const auto block = blocks_.read(at, in.raw());
      if (!block) return false;
      if (block->type == "tool_use") {
        CallRecord& call = message.calls.emplace_back();
        if (!blocks_.take_text(Path(at, "id"), block->id, call.id) ||
            !blocks_.take_text(Path(at, "name"), block->name, call.name)) {
          return false;
        }
        const bool object = block->input.empty() || block->input.starts_with('{');
        if (!blocks_.expect(Path(at, "input"), block->input, object, "an object")) return false;
        call.arguments = block->input.empty() ? "{}" : block->input;
        verbatim_ = verbatim_ && is_plain_id(call.id);
      } else if (block->type == "thinking") {
        reasoning.add_thinking(block->thinking, block->signature, i);
      } else if (block->type == "redacted_thinking") {
        reasoning.add_redacted(block->data, i);
      } else if (!blocks_.append_parts(at, *block, parts)) {
        return false;
      }
    }
  }
  message.content.text = parts.empty() ? "null" : content_of(parts);
  reasoning.apply_to(message);
  verbatim_ = verbatim_ && !reasoning.has_sealed();
  request_.messages.push_back(std::move(message));
  return true;
}

}  // namespace callgate::client
