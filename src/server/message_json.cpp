#include "server/message_json.h"

#include "client/protocol.h"
#include "upstream/openai_chat.h"

namespace callgate::server {

std::string print_message(const Message& message) {
  std::string out;
  upstream::append_openai_message(out, message);
  return out;
}

std::string print_messages(const std::vector<Message>& messages) {
  std::vector<std::string> values;
  for (const Message& message : messages) values.push_back(print_message(message));
  return join_json(values);
}

std::string join_json(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += value;
  }
  return out + "]";
}

Result<std::vector<Message>> read_messages(std::string_view json) {
  if (json.empty() || json == "[]") return std::vector<Message>();
  auto request = client::find("openai_chat")
                     ->decode("{\"model\":\"m\",\"messages\":" + std::string(json) + "}");
  if (!request) return tl::unexpected(request.error());
  return std::move(request->messages);
}

}  // namespace callgate::server
