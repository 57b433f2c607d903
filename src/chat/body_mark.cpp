#include "chat/body_mark.h"

#include <span>
#include <string_view>

namespace callgate {
namespace {

// FNV-1a over texts, each with its end. It tells changes that rules make from none; nobody profits from a collision.
class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0x100);
  }
  void add(const std::vector<ExtraField>& fields) {
    for (const ExtraField& field : fields) {
      add(field.name);
      add(field.value.text);
    }
    step(0x101);
  }
  void add(std::uint64_t number) { step(number); }
  std::uint64_t value() const { return hash_; }

 private:
  void step(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001B3ULL; }
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

std::uint64_t digest_of(std::span<const Message> messages) {
  Digest digest;
  for (const Message& message : messages) {
    digest.add(static_cast<std::uint64_t>(message.role));
    digest.add(message.content.text);
    digest.add(message.name);
    digest.add(message.tool_call_id);
    for (const CallRecord& call : message.calls) {
      digest.add(call.id);
      digest.add(call.name);
      digest.add(call.arguments);
      digest.add(call.extra);
    }
    digest.add(message.extra);
  }
  return digest.value();
}

std::uint64_t digest_of(std::span<const ToolSpec> tools) {
  Digest digest;
  for (const ToolSpec& tool : tools) {
    digest.add(tool.name);
    digest.add(tool.description);
    digest.add(tool.parameters.text);
    digest.add(tool.extra);
    digest.add(tool.outer_extra);
  }
  return digest.value();
}

}  // namespace

void mark_body(Request& request) {
  request.client.messages = request.messages.size();
  request.client.messages_digest = digest_of(std::span<const Message>(request.messages));
  request.client.tools = request.tools.size();
  request.client.tools_digest = digest_of(std::span<const ToolSpec>(request.tools));
}

bool keeps_messages(const Request& request) {
  const std::span<const Message> messages(request.messages);
  const std::size_t marked = request.client.messages;
  return messages.size() >= marked &&
         digest_of(messages.first(marked)) == request.client.messages_digest;
}

bool keeps_tools(const Request& request) {
  const std::span<const ToolSpec> tools(request.tools);
  const std::size_t marked = request.client.tools;
  return tools.size() >= marked && digest_of(tools.first(marked)) == request.client.tools_digest;
}

}  // namespace callgate
