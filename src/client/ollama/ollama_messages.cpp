// The messages of an Ollama request.
#include <utility>

#include "chat/content.h"
#include "client/ollama/ollama_content.h"
#include "client/ollama/ollama_request.h"
#include "json/writer.h"

namespace callgate::client {

bool OllamaRequestReader::read_messages() {
  constexpr std::string_view kExpected = "an array of messages";
  if (in_.peek() != json::Kind::array) return fault_kind({"messages"}, kExpected);
  has_messages_ = true;
  request_.messages.clear();
  ids_ = {};
  for (std::size_t i = 0; in_.next_element(); ++i) {
    if (!read_message(i)) return false;
  }
  return true;
}

bool OllamaRequestReader::read_message(std::size_t index) {
  const FieldPath path{"messages", index};
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  Draft draft;
  Message message;
  std::string name;
  for (std::string_view key; in_.next_member(key);) {
    name = key;
    if (is_null()) {
      in_.null();
    } else if (!read_message_field(path, name, draft, message)) {
      return false;
    }
  }
  if (!end_message(path, draft, message)) return false;
  request_.messages.push_back(std::move(message));
  return true;
}

bool OllamaRequestReader::read_message_field(const FieldPath& path, const std::string& name,
                                             Draft& draft, Message& message) {
  if (name == "role") return read_string(path.with("role"), draft.role);
  if (name == "content") return read_string(path.with("content"), draft.text);
  if (name == "tool_name") return read_string(path.with("tool_name"), draft.tool_name);
  if (name == "tool_call_id") return read_string(path.with("tool_call_id"), message.tool_call_id);
  if (name == "images") return read_images(path.with("images"), draft.images);
  if (name == "tool_calls") return read_calls(path.with("tool_calls"), message.calls);
  if (name == "thinking") {
    if (in_.peek() != json::Kind::string) return fault_kind(path.with("thinking"), "a string");
    const std::string_view raw = in_.raw();
    if (raw != "\"\"") message.extra.push_back({"reasoning_content", {std::string(raw)}});
    return true;
  }
  keep(message.extra, name);
  return true;
}

bool OllamaRequestReader::read_images(FieldPath path, std::vector<std::string_view>& images) {
  if (in_.peek() != json::Kind::array) return fault_kind(path, "an array of images in base64");
  images.clear();
  while (in_.next_element()) {
    path.inner_index = images.size();
    if (in_.peek() != json::Kind::string) return fault_kind(path, "an image in base64");
    const std::string_view raw = in_.raw();
    if (!is_ollama_image(raw)) return fault(path, "another text", "an image in base64");
    images.push_back(raw);
  }
  return true;
}

bool OllamaRequestReader::read_calls(FieldPath path, std::vector<CallRecord>& calls) {
  if (in_.peek() != json::Kind::array) return fault_kind(path, "an array of calls");
  calls.clear();
  while (in_.next_element()) {
    path.inner_index = calls.size();
    if (!read_call(path, calls.emplace_back())) return false;
  }
  return true;
}

bool OllamaRequestReader::read_call(const FieldPath& path, CallRecord& call) {
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  bool has_function = false;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "id") {
      if (!read_string(path.with("id"), call.id)) return false;
    } else if (key == "function") {
      has_function = true;
      if (!read_function(path, call)) return false;
    } else if (key == "type" || key == "index") {
      in_.skip();  // clients copy them from other protocols; they say nothing
    } else {
      const std::string name(key);
      keep(call.extra, name);
    }
  }
  if (!has_function) return fault(path.with("function"), "missing", "an object");
  if (call.name.empty()) return fault(path.with("function.name"), "missing", "a name");
  return true;
}

bool OllamaRequestReader::read_function(const FieldPath& path, CallRecord& call) {
  if (in_.peek() != json::Kind::object) return fault_kind(path.with("function"), "an object");
  for (std::string_view key; in_.next_member(key);) {
    if (key == "name") {
      if (!read_string(path.with("function.name"), call.name)) return false;
    } else if (key == "arguments" && in_.peek() == json::Kind::object) {
      call.arguments = in_.raw();
    } else if (key == "arguments" && in_.peek() == json::Kind::string) {
      call.arguments = in_.string();  // as Chat Completions has them
    } else if (key == "arguments" && !is_null()) {
      return fault_kind(path.with("function.arguments"), "an object");
    } else {
      in_.skip();
    }
  }
  if (call.arguments.empty()) call.arguments = "{}";
  return true;
}

bool OllamaRequestReader::end_message(const FieldPath& path, const Draft& draft, Message& message) {
  constexpr std::string_view kRoles = "system|user|assistant|tool";
  const std::optional<Role> role = find_role(draft.role);
  if (!role) {
    std::string found;
    if (draft.role.empty()) {
      found = "missing";
    } else {
      json::append_string(found, draft.role.substr(0, 64));
    }
    return fault(path.with("role"), found, kRoles);
  }
  message.role = *role;
  message.content = ollama_content(draft.text, draft.images);
  if (message.role == Role::assistant) {
    if (draft.text.empty() && draft.images.empty() && !message.calls.empty()) {
      message.content = {"null"};
    }
    for (CallRecord& call : message.calls) call.id = ids_.called(call.name, call.id);
  } else if (!message.calls.empty()) {
    return fault(path.with("tool_calls"), "given", "them only in an assistant message");
  }
  if (message.role == Role::tool) {
    message.tool_call_id = ids_.answered(draft.tool_name, message.tool_call_id);
    message.name = draft.tool_name;
  }
  return true;
}

}  // namespace callgate::client
