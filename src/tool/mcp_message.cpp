#include "tool/mcp_message.h"

#include "base/utf8.h"
#include "json/integer.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::tool {
namespace {

void read_error(std::string_view json, McpMessage& message) {
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    if (key == "code" && in.peek() == json::Kind::number) {
      message.error_code = in.integer().value_or(0);
    } else if (key == "message" && in.peek() == json::Kind::string) {
      message.error_message = in.string();
    } else if (key == "data") {
      message.error_data = in.raw();
    } else {
      in.skip();
    }
  }
}

bool is_id(std::string_view json) {
  return !json.empty() && (json.front() == '"' || json.front() == '-' ||
                           (json.front() >= '0' && json.front() <= '9'));
}

McpMessage::Kind kind_of(const McpMessage& message, bool has_error) {
  using Kind = McpMessage::Kind;
  if (!message.method.empty()) {
    if (message.id.empty()) return Kind::notification;
    return is_id(message.id) ? Kind::request : Kind::invalid;
  }
  if (has_error) return Kind::error;
  return !message.result.empty() && is_id(message.id) ? Kind::result : Kind::invalid;
}

}  // namespace

std::optional<std::int64_t> McpMessage::number() const {
  if (id.empty() || id.front() == '"' || !is_id(id)) return std::nullopt;
  return json::to_integer(id);
}

McpMessage read_mcp_message(std::string_view text) {
  McpMessage message;
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return message;
  std::string_view error;
  for (std::string_view key; in.next_member(key);) {
    if (key == "id") {
      message.id = in.raw();
    } else if (key == "method" && in.peek() == json::Kind::string) {
      message.method = in.string();
    } else if (key == "params") {
      message.params = in.raw();
    } else if (key == "result") {
      message.result = in.raw();
    } else if (key == "error") {
      error = in.raw();
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return McpMessage();
  const bool has_error = !error.empty() && error != "null";
  if (has_error) read_error(error, message);
  message.kind = kind_of(message, has_error);
  message.text = text;
  return message;
}

void read_mcp_messages(std::string_view text, FunctionRef<void(const McpMessage&)> on_message) {
  std::string clean;
  if (!utf8::is_valid(text)) {
    utf8::append_sanitized(clean, text);
    text = clean;
  }
  json::Reader in(text);
  if (in.peek() != json::Kind::array) return on_message(read_mcp_message(text));
  while (in.next_element()) on_message(read_mcp_message(in.raw()));
}

std::string write_mcp_request(std::int64_t id, std::string_view method, std::string_view params) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("jsonrpc", "2.0");
  object.integer("id", id);
  object.string("method", method);
  if (!params.empty()) object.raw("params", params);
  object.close();
  return out;
}

std::string write_mcp_notification(std::string_view method, std::string_view params) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("jsonrpc", "2.0");
  object.string("method", method);
  if (!params.empty()) object.raw("params", params);
  object.close();
  return out;
}

std::string write_mcp_result(std::string_view id, std::string_view result) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("jsonrpc", "2.0");
  object.raw("id", id);
  object.raw("result", result);
  object.close();
  return out;
}

std::string write_mcp_error(std::string_view id, std::int64_t code, std::string_view message,
                            std::string_view data) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("jsonrpc", "2.0");
  object.raw("id", id.empty() ? "null" : id);
  json::ObjectWriter error(object.key("error"));
  error.integer("code", code);
  error.string("message", message);
  if (!data.empty()) error.raw("data", data);
  error.close();
  object.close();
  return out;
}

}  // namespace callgate::tool
