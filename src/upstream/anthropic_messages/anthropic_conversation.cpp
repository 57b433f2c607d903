#include "upstream/anthropic_messages/anthropic_conversation.h"

#include <iterator>
#include <utility>

#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_block.h"
#include "upstream/reasoning_place.h"
#include "upstream/unnamed_calls.h"

namespace callgate::upstream {
namespace {

using Blocks = std::vector<AnthropicParam>;

void append_blocks(std::string& out, const Blocks& first, const Blocks& rest = {}) {
  out.push_back('[');
  for (const Blocks* list : {&first, &rest}) {
    for (const AnthropicParam& block : *list) {
      if (out.back() != '[') out.push_back(',');
      out.append(block.json);
    }
  }
  out.push_back(']');
}

std::string_view without_trailing_space(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n\f\v");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

class MessagesConversation {
 public:
  explicit MessagesConversation(const std::vector<Message>& messages) : messages_(messages) {}

  AnthropicConversation write() {
    for (at_ = 0; at_ < messages_.size(); ++at_) add(messages_[at_]);
    AnthropicConversation made{.dropped = std::move(dropped_)};
    // A conversation has a message. Where there are only system prompts, they are it.
    if (turns_.empty() && !system_.empty()) {
      turns_.push_back({.blocks = std::exchange(system_, {})});
    }
    if (!system_.empty()) append_blocks(made.system, system_);
    append_turns(made.messages);
    return made;
  }

 private:
  struct Turn {
    bool assistant = false;
    Blocks results;
    Blocks blocks;
  };

  void add(const Message& message) {
    switch (message.role) {
      case Role::system:
      case Role::developer:
        note_name(message);
        return move_into(system_, blocks_of(message));
      case Role::user:
        note_name(message);
        return add_user(message);
      case Role::assistant:
        note_name(message);
        return add_assistant(message);
      case Role::tool:
        return turn(false).results.push_back(result_of(message));
    }
  }

  void add_user(const Message& message) {
    Blocks blocks = blocks_of(message);
    if (blocks.empty()) return drop("content", true);
    move_into(turn(false).blocks, std::move(blocks));
  }

  // Messages of one side that follow one another are one message.
  Turn& turn(bool assistant) {
    if (turns_.empty() || turns_.back().assistant != assistant) {
      turns_.push_back({.assistant = assistant});
    }
    return turns_.back();
  }

  static void move_into(Blocks& target, Blocks blocks) {
    target.insert(target.end(), std::make_move_iterator(blocks.begin()),
                  std::make_move_iterator(blocks.end()));
  }

  Blocks blocks_of(const Message& message) {
    std::vector<ContentPart> parts = parts_of(message.content);
    // An answer that the model shall go on with must not end in white space.
    const bool begun = message.role == Role::assistant && at_ + 1 == messages_.size();
    if (begun && message.calls.empty() && !parts.empty()) {
      ContentPart& last = parts.back();
      last.text = without_trailing_space(last.text);
    }
    Blocks blocks;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      bool lost = false;
      if (auto block = block_of(parts[i], lost)) blocks.push_back(std::move(*block));
      if (lost) drop("content[" + std::to_string(i) + "]", true);
    }
    if (!blocks.empty() && message.calls.empty()) {
      set_cache_control(blocks.back(), find_field(message.extra, "cache_control"));
    }
    return blocks;
  }

  void add_assistant(const Message& message) {
    Blocks blocks = blocks_of(message);
    const std::string refusal = field_text(message.extra, "refusal");
    if (blocks.empty() && !is_ascii_blank(refusal)) blocks.push_back(text_block(refusal));
    for (const CallRecord& call : message.calls) {
      blocks.push_back(call_block(call, id_of(call)));
    }
    if (!message.calls.empty()) {
      set_cache_control(blocks.back(), find_field(message.extra, "cache_control"));
    }
    if (!find_field(message.extra, "tool_calls").empty()) drop("tool_calls", true);
    if (!find_field(message.extra, "audio").empty()) drop("audio", true);
    std::vector<ThinkingParam> thinking = thinking_blocks(message);
    if (blocks.empty()) {
      if (!thinking.empty()) drop("reasoning_details", false);
      return;
    }
    move_into(turn(true).blocks, with_reasoning(std::move(blocks), std::move(thinking)));
  }

  std::string id_of(const CallRecord& call) {
    return call.id.empty() ? unnamed_.name_call() : anthropic_call_id(call.id);
  }

  std::string id_answered(const Message& message) {
    const std::string made = message.tool_call_id.empty() ? unnamed_.answered() : "";
    return made.empty() ? anthropic_call_id(message.tool_call_id) : made;
  }

  AnthropicParam result_of(const Message& message) {
    Message content{.role = Role::tool, .content = message.content};
    const Blocks blocks = blocks_of(content);
    AnthropicParam made;
    json::ObjectWriter block(made.json);
    block.string("type", "tool_result");
    block.string("tool_use_id", id_answered(message));
    if (!blocks.empty()) {
      if (message.content.text.starts_with('"')) {
        block.raw("content", message.content.text);
      } else {
        append_blocks(block.key("content"), blocks);
      }
    }
    if (field_text(message.extra, "is_error") == "true") block.boolean("is_error", true);
    block.close();
    set_cache_control(made, find_field(message.extra, "cache_control"));
    return made;
  }

  void append_turns(std::string& out) const {
    out.push_back('[');
    for (const Turn& turn : turns_) {
      if (out.back() != '[') out.push_back(',');
      json::ObjectWriter message(out);
      message.string("role", turn.assistant ? "assistant" : "user");
      append_blocks(message.key("content"), turn.results, turn.blocks);
      message.close();
    }
    out.push_back(']');
  }

  void note_name(const Message& message) {
    if (!message.name.empty()) drop("name", false);
  }

  void drop(std::string_view what, bool changes_meaning) {
    dropped_.push_back(
        {"messages[" + std::to_string(at_) + "]." + std::string(what), changes_meaning});
  }

  const std::vector<Message>& messages_;
  std::size_t at_ = 0;
  Blocks system_;
  std::vector<Turn> turns_;
  UnnamedCalls unnamed_;
  std::vector<DroppedField> dropped_;
};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string anthropic_call_id(std::string_view id) {
  constexpr std::string_view kPrefix = "cg_";
  constexpr std::string_view kHex = "0123456789abcdef";
  bool good = !id.empty() && !id.starts_with(kPrefix);
  for (const char c : id) good = good && (is_plain(c) || c == '_' || c == '-');
  if (good) return std::string(id);
  std::string written(kPrefix);
  for (const char c : id) {
    if (is_plain(c)) {
      written.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    written.push_back('_');
    written.push_back(kHex[byte >> 4]);
    written.push_back(kHex[byte & 15]);
  }
  return written;
}

AnthropicConversation encode_anthropic_conversation(const std::vector<Message>& messages) {
  return MessagesConversation(messages).write();
}

}  // namespace callgate::upstream
