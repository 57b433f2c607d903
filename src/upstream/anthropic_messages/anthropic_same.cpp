#include "upstream/anthropic_messages/anthropic_same.h"

#include <algorithm>
#include <array>
#include <utility>

#include "chat/content.h"
#include "chat/messages_frame.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_conversation.h"
#include "upstream/anthropic_messages/anthropic_messages.h"
#include "upstream/anthropic_messages/anthropic_tool.h"

namespace callgate::upstream {
namespace {

// `[a,b]` -> `a,b`
std::string_view elements_in(std::string_view array) {
  return array.size() < 2 ? std::string_view() : array.substr(1, array.size() - 2);
}

bool is_counted_member(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kCounted = {
      "model",    "messages",      "system",      "tools",        "tool_choice",
      "thinking", "cache_control", "mcp_servers", "output_config"};
  return std::find(kCounted.begin(), kCounted.end(), name) != kCounted.end();
}

class SameMessagesBody {
 public:
  SameMessagesBody(std::string& out, const Request& request, const EncodeOptions& options,
                   std::vector<DroppedField>& dropped)
      : out_(out), request_(request), options_(options), dropped_(dropped), object_(out) {}

  void write(bool counting) {
    std::string name;
    json::Reader in(request_.body.text);
    for (std::string_view key; in.next_member(key);) {
      name = key;
      const std::string_view value = in.raw();
      if (!counting || is_counted_member(name)) write_member(name, value);
    }
    if (!has_tools_) write_tools({});
    if (!has_choice_) write_own_choice();
    if (options_.stream && !has_stream_ && !counting) object_.boolean("stream", true);
    object_.close();
  }

 private:
  void write_member(const std::string& name, std::string_view value) {
    if (name == "callgate") return;
    if (name == "model") {
      return object_.string(
          name, options_.model.empty() ? std::string_view(request_.model) : options_.model);
    }
    if (name == "stream") {
      has_stream_ = true;
      return object_.boolean(name, options_.stream);
    }
    if (name == "messages") return write_messages();
    if (name == "tools") return write_tools(value);
    if (name == "tool_choice" && !is_choice(value)) return write_own_choice();
    has_choice_ = has_choice_ || name == "tool_choice";
    object_.raw_escaped(name, value);
  }

  void write_messages() {
    const std::string_view system = json::member_json(request_.body.text, "system");
    object_.key("messages").push_back('[');
    std::vector<Message> added;
    BodySpan last;
    for (const Message& message : request_.messages) {
      const BodySpan source = message.source;
      if (source.size == 0) {
        added.push_back(message);
        continue;
      }
      write_added(added);
      const std::string_view text = text_at(source);
      if (source == last || text.data() == system.data()) continue;
      last = source;
      separate();
      out_.append(text);
    }
    write_added(added);
    out_.push_back(']');
  }

  // Messages that the client did not write.
  void write_added(std::vector<Message>& added) {
    if (added.empty()) return;
    AnthropicConversation made = encode_anthropic_conversation(std::exchange(added, {}));
    for (DroppedField& field : made.dropped) dropped_.push_back(std::move(field));
    const std::string_view elements = elements_in(made.messages);
    if (elements.empty()) return;
    separate();
    out_.append(elements);
  }

  void write_tools(std::string_view value) {
    has_tools_ = true;
    const bool more = std::any_of(request_.tools.begin(), request_.tools.end(),
                                  [](const ToolSpec& tool) { return tool.source.size == 0; });
    if (!more) {
      if (!value.empty()) object_.raw("tools", value);
      return;
    }
    object_.key("tools").push_back('[');
    json::Reader in(value);
    while (!value.empty() && in.next_element()) {
      separate();
      out_.append(in.raw());
    }
    for (const ToolSpec& tool : request_.tools) {
      if (tool.source.size > 0) continue;
      separate();
      append_anthropic_tool(out_, tool);
    }
    out_.push_back(']');
  }

  // The client's words still say what is wanted.
  bool is_choice(std::string_view value) const {
    const std::string type = json::member_text(value, "type");
    switch (request_.tool_choice.mode) {
      case ToolChoice::Mode::unset:
        return true;
      case ToolChoice::Mode::automatic:
        return type == "auto";
      case ToolChoice::Mode::none:
        return type == "none";
      case ToolChoice::Mode::required:
        return type == "any";
      case ToolChoice::Mode::named:
        return type == "tool" && json::member_text(value, "name") == request_.tool_choice.name;
    }
    return true;
  }

  void write_own_choice() {
    has_choice_ = true;
    append_anthropic_choice(object_, request_, true);
  }

  std::string_view text_at(const BodySpan& span) const {
    return std::string_view(request_.body.text).substr(span.at, span.size);
  }

  void separate() {
    if (out_.back() != '[') out_.push_back(',');
  }

  std::string& out_;
  const Request& request_;
  const EncodeOptions& options_;
  std::vector<DroppedField>& dropped_;
  json::ObjectWriter object_;
  bool has_tools_ = false;
  bool has_choice_ = false;
  bool has_stream_ = false;
};

}  // namespace

bool goes_as_it_came(const Request& request) {
  if (request.origin != kMessagesOrigin || request.body.empty()) return false;
  const std::size_t size = request.body.text.size();
  return std::all_of(request.messages.begin(), request.messages.end(), [&](const Message& message) {
    const BodySpan source = message.source;
    if (is_prompt(message) && source.size == 0) return false;
    return source.at <= size && source.size <= size - source.at;
  });
}

void append_same_body(std::string& out, const Request& request, const EncodeOptions& options,
                      std::vector<DroppedField>& dropped) {
  SameMessagesBody(out, request, options, dropped).write(false);
}

void append_same_count(std::string& out, const Request& request, const EncodeOptions& options,
                       std::vector<DroppedField>& dropped) {
  SameMessagesBody(out, request, options, dropped).write(true);
}

}  // namespace callgate::upstream
