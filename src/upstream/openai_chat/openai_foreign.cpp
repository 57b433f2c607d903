#include "upstream/openai_chat/openai_foreign.h"

#include <algorithm>
#include <array>

#include "chat/content.h"
#include "chat/message_json.h"
#include "json/member.h"
#include "json/reader.h"

namespace callgate::upstream {
namespace {

// Issuers whose own APIs take their reasoning back; a server of this format gave none of it.
bool is_sealed_elsewhere(std::string_view detail) {
  static constexpr std::array<std::string_view, 3> kIssuers = {
      "anthropic-claude-v1", "openai-responses-v1", "google-gemini-v1"};
  const std::string format = json::member_text(detail, "format");
  return std::find(kIssuers.begin(), kIssuers.end(), format) != kIssuers.end();
}

class ForeignMessages {
 public:
  ForeignMessages(std::string& out, std::vector<DroppedField>& dropped)
      : out_(out), dropped_(dropped) {}

  void write(const std::vector<Message>& messages) {
    out_.push_back('[');
    for (std::size_t i = 0; i < messages.size(); ++i) {
      add(messages[i]);
      const bool more = i + 1 < messages.size() && messages[i + 1].role == Role::tool;
      if (messages[i].role == Role::tool && !more) add_shown();
    }
    out_.push_back(']');
  }

 private:
  void add(const Message& message) {
    if (out_.back() != '[') out_.push_back(',');
    const bool has_extra = !message.extra.empty();
    const bool has_parts = message.role == Role::tool && message.content.text.starts_with('[');
    if (!has_extra && !has_parts) return append_message(out_, message);
    Message changed = message;
    if (has_parts) keep_text(changed);
    keep_extra(changed.extra);
    append_message(out_, changed);
  }

  void keep_text(Message& message) {
    for (ContentPart& part : parts_of(message.content)) {
      if (part.kind != ContentPart::Kind::text) shown_.push_back(std::move(part.json));
    }
    message.content = text_content(text_of(message.content));
  }

  void add_shown() {
    if (shown_.empty()) return;
    Message message{.role = Role::user};
    message.content.text = join_json(shown_);
    shown_.clear();
    out_.push_back(',');
    append_message(out_, message);
  }

  void keep_extra(std::vector<ExtraField>& extra) {
    std::erase_if(extra, [&](ExtraField& field) {
      if (field.name == "is_error") {
        drop("is_error");
        return true;
      }
      return field.name == "reasoning_details" && !keep_details(field.value);
    });
  }

  // False: none is left.
  bool keep_details(RawJson& details) {
    std::vector<std::string> kept;
    bool lost = false;
    json::Reader in(details.text);
    if (in.peek() != json::Kind::array) return true;
    while (in.next_element()) {
      const std::string_view detail = in.raw();
      if (is_sealed_elsewhere(detail)) {
        lost = true;
      } else {
        kept.emplace_back(detail);
      }
    }
    if (lost) drop("reasoning_details");
    if (lost) details.text = join_json(kept);
    return !kept.empty();
  }

  void drop(std::string_view name) {
    const bool known = std::any_of(dropped_.begin(), dropped_.end(),
                                   [&](const DroppedField& field) { return field.name == name; });
    if (!known) dropped_.push_back({std::string(name), false});
  }

  std::string& out_;
  std::vector<DroppedField>& dropped_;
  std::vector<std::string> shown_;  // parts of results that are not text
};

}  // namespace

void append_foreign_messages(std::string& out, const std::vector<Message>& messages,
                             std::vector<DroppedField>& dropped) {
  ForeignMessages(out, dropped).write(messages);
}

}  // namespace callgate::upstream
