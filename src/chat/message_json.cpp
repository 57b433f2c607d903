#include "chat/message_json.h"

#include "chat/content.h"
#include "chat/message_reader.h"

namespace callgate {

void append_extra(json::ObjectWriter& object, const std::vector<ExtraField>& extra) {
  for (const ExtraField& field : extra) object.raw_escaped(field.name, field.value.text);
}

void append_call(std::string& out, std::string_view id, std::string_view name,
                 std::string_view arguments, FunctionRef<void(json::ObjectWriter&)> add_fields) {
  json::ObjectWriter object(out);
  object.string("id", id);
  object.string("type", "function");
  json::ObjectWriter function(object.key("function"));
  function.string("name", name);
  function.string("arguments", arguments);
  function.close();
  add_fields(object);
  object.close();
}

void append_message(std::string& out, const Message& message) {
  append_message(out, message, [](std::string_view) { return true; });
}

void append_message(std::string& out, const Message& message,
                    FunctionRef<bool(std::string_view name)> keeps) {
  json::ObjectWriter object(out);
  object.string("role", role_name(message.role));
  if (!message.content.empty()) object.raw("content", message.content.text);
  if (!message.name.empty()) object.string("name", message.name);
  if (!message.tool_call_id.empty()) object.string("tool_call_id", message.tool_call_id);
  if (!message.calls.empty()) {
    append_list(object.key("tool_calls"), message.calls, [&](const CallRecord& call) {
      append_call(out, call.id, call.name, call.arguments,
                  [&](json::ObjectWriter& made) { append_extra(made, call.extra); });
    });
  }
  for (const ExtraField& field : message.extra) {
    if (keeps(field.name)) object.raw_escaped(field.name, field.value.text);
  }
  object.close();
}

std::string print_message(const Message& message) {
  std::string out;
  append_message(out, message);
  return out;
}

std::string print_messages(const std::vector<Message>& messages) {
  std::string out;
  append_list(out, messages, [&](const Message& message) { append_message(out, message); });
  return out;
}

std::string join_json(const std::vector<std::string>& values) {
  std::string out;
  append_list(out, values, [&](const std::string& value) { out.append(value); });
  return out;
}

Result<std::vector<Message>> read_messages(std::string_view json) {
  std::vector<Message> messages;
  if (json.empty() || json == "[]") return messages;
  json::Reader in(json);
  in.skip();
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request, "messages: " + std::string(in.error().message));
  }
  in.reset(json);
  MessageReader reader(in);
  if (!reader.read(messages)) return tl::unexpected(reader.take_error());
  return messages;
}

}  // namespace callgate
