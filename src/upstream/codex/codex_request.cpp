#include "upstream/codex/codex_request.h"

#include "json/reader.h"
#include "json/writer.h"
#include "upstream/codex/codex_line.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

// Appends items with commas between them.
class ItemList {
 public:
  explicit ItemList(std::string& out) : out_(out) {}
  std::string& next() {
    if (!first_) out_.push_back(',');
    first_ = false;
    return out_;
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_codex_content(std::string& out, const Message& message, std::size_t index,
                          std::string_view text_type, std::vector<DroppedField>& dropped) {
  out.push_back('[');
  ItemList list(out);
  const std::vector<ContentPart> parts = parts_of(message.content);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ContentPart& part = parts[i];
    if (part.kind == ContentPart::Kind::text) {
      json::ObjectWriter object(list.next());
      object.string("type", text_type);
      object.string("text", part.text);
      object.close();
    } else if (part.kind == ContentPart::Kind::image && message.role != Role::assistant) {
      json::ObjectWriter object(list.next());
      object.string("type", "input_image");
      object.string("image_url", image_url_of(part));
      object.close();
    } else {
      dropped.push_back({place_of_part(index, i), true});
    }
  }
  out.push_back(']');
}

// A string where text is all there is.
void append_output(std::string& out, const Message& message, std::size_t index,
                   std::vector<DroppedField>& dropped) {
  for (const ContentPart& part : parts_of(message.content)) {
    if (part.kind != ContentPart::Kind::text) {
      return append_codex_content(out, message, index, "input_text", dropped);
    }
  }
  json::append_string(out, text_of(message.content));
}

// Reasoning that codex' model sealed comes back as it was; that of others stays out.
void append_reasoning(ItemList& list, const Message& message) {
  const std::string_view details = find_field(message.extra, "reasoning_details");
  if (details.empty()) return;
  json::Reader in(details);
  if (in.peek() != json::Kind::array) return;
  while (in.next_element()) {
    const std::string_view detail = in.raw();
    if (any_member_text(detail, "format") != "openai-responses-v1") continue;
    if (any_member_text(detail, "type") != "reasoning.encrypted") continue;
    json::ObjectWriter object(list.next());
    object.string("type", "reasoning");
    if (const std::string id = any_member_text(detail, "id"); !id.empty()) object.string("id", id);
    object.raw("summary", "[]");
    object.string("encrypted_content", any_member_text(detail, "data"));
    object.close();
  }
}

void append_said(ItemList& list, const Message& message, std::size_t index, std::string_view role,
                 std::vector<DroppedField>& dropped) {
  if (parts_of(message.content).empty()) return;
  json::ObjectWriter object(list.next());
  object.string("type", "message");
  object.string("role", role);
  append_codex_content(object.key("content"), message, index,
                       role == "assistant" ? "output_text" : "input_text", dropped);
  object.close();
}

void append_call(std::string& out, const CallRecord& call) {
  json::ObjectWriter object(out);
  object.string("type", "function_call");
  object.string("name", call.name);
  object.string("arguments", call.arguments);
  object.string("call_id", call.id);
  object.close();
}

}  // namespace

std::string image_url_of(const ContentPart& part) {
  if (!part.url.empty()) return part.url;
  return "data:" + part.media_type + ";base64," + part.data;
}

std::string place_of_part(std::size_t message, std::size_t part) {
  return "messages[" + std::to_string(message) + "].content[" + std::to_string(part) + "]";
}

ConversationParts parts_of_conversation(const Request& request) {
  const std::vector<Message>& messages = request.messages;
  ConversationParts parts{.prompt = messages.size(), .since_call = messages.size()};
  while (parts.lead < messages.size() && is_prompt(messages[parts.lead])) ++parts.lead;
  while (parts.prompt > parts.lead && messages[parts.prompt - 1].role == Role::user) --parts.prompt;
  while (parts.since_call > 0 && messages[parts.since_call - 1].role == Role::tool) {
    --parts.since_call;
  }
  if (parts.since_call == 0 || messages[parts.since_call - 1].role != Role::assistant) {
    parts.since_call = messages.size();
  }
  return parts;
}

std::string instructions_of(const Request& request, std::size_t lead) {
  std::string text;
  for (std::size_t i = 0; i < lead; ++i) {
    text.append(text.empty() ? "" : "\n\n").append(text_of(request.messages[i].content));
  }
  return text;
}

void append_items(std::string& out, const Request& request, std::size_t begin, std::size_t end,
                  std::vector<DroppedField>& dropped) {
  ItemList list(out);
  for (std::size_t i = begin; i < end; ++i) {
    const Message& message = request.messages[i];
    switch (message.role) {
      case Role::system:
      case Role::developer:
        append_said(list, message, i, "developer", dropped);
        break;
      case Role::user:
        append_said(list, message, i, "user", dropped);
        break;
      case Role::assistant:
        append_reasoning(list, message);
        append_said(list, message, i, "assistant", dropped);
        for (const CallRecord& call : message.calls) append_call(list.next(), call);
        break;
      case Role::tool: {
        json::ObjectWriter object(list.next());
        object.string("type", "function_call_output");
        object.string("call_id", message.tool_call_id);
        append_output(object.key("output"), message, i, dropped);
        object.close();
        break;
      }
    }
  }
}

void append_input(std::string& out, const Request& request, std::size_t begin,
                  std::string_view image_key, std::vector<DroppedField>& dropped) {
  ItemList list(out);
  for (std::size_t i = begin; i < request.messages.size(); ++i) {
    const std::vector<ContentPart> parts = parts_of(request.messages[i].content);
    for (std::size_t j = 0; j < parts.size(); ++j) {
      const ContentPart& part = parts[j];
      if (part.kind == ContentPart::Kind::other) {
        dropped.push_back({place_of_part(i, j), true});
        continue;
      }
      json::ObjectWriter object(list.next());
      if (part.kind == ContentPart::Kind::text) {
        object.string("type", "text");
        object.string("text", part.text);
      } else {
        object.string("type", "image");
        object.string(image_key, image_url_of(part));
      }
      object.close();
    }
  }
}

void put_on_one_line(std::string& json) {
  for (char& c : json) {
    if (c == '\n' || c == '\r') c = ' ';
  }
}

std::string transcript_of(const Request& request, std::size_t begin, std::size_t end) {
  std::string text;
  const auto part = [&](std::string_view who, std::string_view what) {
    if (what.empty()) return;
    text.append(text.empty() ? "" : "\n\n").append("[").append(who).append("]\n").append(what);
  };
  for (std::size_t i = begin; i < end; ++i) {
    const Message& message = request.messages[i];
    std::string who(plain_role_name(message.role));
    if (message.role == Role::tool) who += " result " + message.tool_call_id;
    part(who, text_of(message.content));
    for (const CallRecord& call : message.calls) {
      part("assistant call " + call.id, call.name + " " + call.arguments);
    }
  }
  return text;
}

}  // namespace callgate::upstream
