#include "chat/message_reader.h"

#include <optional>
#include <utility>

#include "chat/content.h"
#include "json/writer.h"

namespace callgate {
namespace {

// `function` is the old name of the role of a result.
std::optional<Role> role_of(std::string_view name) {
  return name == "function" ? Role::tool : find_role(name);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMaxQuoted = 64;
  std::string out;
  json::append_string(out, text.substr(0, kMaxQuoted));
  return out;
}

}  // namespace

bool MessageReader::read(std::vector<Message>& messages) {
  constexpr std::string_view kExpected = "an array of messages";
  if (in_.peek() != json::Kind::array) return fault_kind({"messages"}, kExpected);
  messages.clear();
  while (in_.next_element()) {
    const std::size_t index = messages.size();
    if (!read_message(index, messages.emplace_back())) return false;
  }
  return !messages.empty() || fault({"messages"}, "empty", "at least one message");
}

bool MessageReader::read_message(std::size_t index, Message& message) {
  const FieldPath path{"messages", index};
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  role_given_ = false;
  role_is_function_ = false;
  for (std::string_view key; in_.next_member(key);) {
    bool good = true;
    if (key == "role") {
      good = read_role(path.with("role"), message);
    } else if (key == "content") {
      good = read_content(path.with("content"), message);
    } else if (key == "name") {
      good = read_string(path.with("name"), message.name);
    } else if (key == "tool_call_id") {
      good = read_string(path.with("tool_call_id"), message.tool_call_id);
    } else if (key == "tool_calls") {
      good = read_calls(index, message);
    } else if (key == "function_call") {
      good = read_function_call(path.with("function_call"), message);
    } else {
      const std::string name(key);
      keep(message.extra, name);
    }
    if (!good) return false;
  }
  return check_message(path, message);
}

bool MessageReader::read_role(const FieldPath& path, Message& message) {
  constexpr std::string_view kExpected = "system|developer|user|assistant|tool|function";
  if (in_.peek() != json::Kind::string) return fault_kind(path, kExpected);
  const std::string_view name = in_.string();
  const std::optional<Role> role = role_of(name);
  if (!role) return fault(path, quoted(name), kExpected);
  role_given_ = true;
  role_is_function_ = name == "function";
  message.role = *role;
  return true;
}

bool MessageReader::read_content(const FieldPath& path, Message& message) {
  const json::Kind kind = in_.peek();
  const bool good =
      kind == json::Kind::string || kind == json::Kind::array || kind == json::Kind::null;
  if (!good) return fault_kind(path, "a string or an array of parts");
  message.content.text = in_.raw();
  if (kind != json::Kind::array) return true;

  json::Reader parts(message.content.text);
  for (std::size_t i = 0; parts.next_element(); ++i) {
    FieldPath part = path;
    part.inner_index = i;
    if (parts.peek() != json::Kind::object) return fault(part, "no object", "a content part");
    bool typed = false;
    for (std::string_view key; parts.next_member(key);) {
      typed = typed || (key == "type" && parts.peek() == json::Kind::string);
      parts.skip();
    }
    if (!typed) return fault(part.with("type"), "missing", "the type of a content part");
  }
  return true;
}

bool MessageReader::read_calls(std::size_t index, Message& message) {
  const FieldPath path{"messages", index, "tool_calls"};
  message.calls.clear();
  if (is_null()) {
    in_.null();
    return true;
  }
  if (in_.peek() != json::Kind::array) return fault_kind(path, "an array of calls");
  const std::string_view raw = in_.raw();
  json::Reader outer = std::exchange(in_, json::Reader(raw));
  bool functions_only = true;
  bool good = true;
  while (good && in_.next_element()) {
    FieldPath at = path;
    at.inner_index = message.calls.size();
    good = read_call(at, message.calls.emplace_back(), functions_only);
  }
  in_ = std::move(outer);
  if (good && !functions_only) {
    // Calls of a kind that callgate does not know: passed on as they are.
    message.calls.clear();
    message.extra.push_back({"tool_calls", {std::string(raw)}});
  }
  return good;
}

bool MessageReader::read_call(const FieldPath& path, CallRecord& call, bool& is_function) {
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  bool has_function = false;
  bool other_type = false;
  for (std::string_view key; in_.next_member(key);) {
    bool good = true;
    if (key == "id") {
      good = read_string(path.with("id"), call.id);
    } else if (key == "type" && in_.peek() == json::Kind::string) {
      other_type = in_.string() != "function";
    } else if (key == "function" && in_.peek() == json::Kind::object) {
      has_function = true;
      good = read_call_function(path, call);
    } else {
      const std::string name(key);
      // Some clients echo the index of the stream.
      if (name == "index" || name == "type") {
        in_.skip();
      } else {
        keep(call.extra, name);
      }
    }
    if (!good) return false;
  }
  if (other_type) {
    is_function = false;
    return true;
  }
  if (call.id.empty()) return fault(path.with("id"), "missing", "the id of a call");
  if (!has_function) return fault(path.with("function"), "missing", "an object");
  if (call.name.empty()) return fault(path.with("function.name"), "missing", "a name");
  return true;
}

bool MessageReader::read_call_function(const FieldPath& path, CallRecord& call) {
  for (std::string_view key; in_.next_member(key);) {
    if (key == "name") {
      if (!read_string(path.with("function.name"), call.name)) return false;
    } else if (key == "arguments" && in_.peek() == json::Kind::object) {
      call.arguments = in_.raw();
    } else if (key == "arguments") {
      if (!read_string(path.with("function.arguments"), call.arguments)) return false;
    } else {
      in_.skip();
    }
  }
  return true;
}

// The old form of a call. It had no id, and a result named the function instead.
bool MessageReader::read_function_call(const FieldPath& path, Message& message) {
  if (is_null()) {
    in_.null();
    return true;
  }
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  CallRecord call;
  if (!read_call_function(path, call)) return false;
  if (call.name.empty()) return fault(path.with("name"), "missing", "a name");
  call.id = "call_legacy";
  json::append_integer(call.id, static_cast<std::int64_t>(legacy_calls_++));
  legacy_ids_.emplace_back(call.name, call.id);
  message.calls.push_back(std::move(call));
  return true;
}

void MessageReader::link_function_result(Message& message) {
  if (!legacy_ids_.empty() && legacy_ids_.back().first == message.name) {
    message.tool_call_id = legacy_ids_.back().second;
    return;
  }
  message.tool_call_id = "call_legacy";
  json::append_integer(message.tool_call_id, static_cast<std::int64_t>(legacy_calls_++));
}

bool MessageReader::check_message(const FieldPath& path, Message& message) {
  if (!role_given_) {
    return fault(path.with("role"), "missing", "system|developer|user|assistant|tool|function");
  }
  if (message.role != Role::assistant && !message.calls.empty()) {
    return fault(path.with("tool_calls"), "given", "them only in an assistant message");
  }
  if (role_is_function_ && message.tool_call_id.empty()) link_function_result(message);
  switch (message.role) {
    case Role::system:
    case Role::developer:
    case Role::user:
      if (message.content.empty() || message.content.text == "null") {
        return fault(path.with("content"), message.content.empty() ? "missing" : "null",
                     "a string or an array of parts");
      }
      return true;
    case Role::assistant:
      return true;
    case Role::tool:
      return !message.tool_call_id.empty() ||
             fault(path.with("tool_call_id"), "missing", "the id of the call that this answers");
  }
  return true;
}

}  // namespace callgate
