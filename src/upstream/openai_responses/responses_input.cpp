#include "upstream/openai_responses/responses_input.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/sha256.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/openai_responses/responses_reasoning.h"
#include "upstream/openai_responses/responses_tools.h"
#include "upstream/reasoning_place.h"
#include "upstream/request_parts.h"
#include "upstream/unnamed_calls.h"

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxCallId = 64;

struct Item {
  std::string json;
};

std::string text_part(std::string_view type, std::string_view text) {
  std::string json;
  json::ObjectWriter part(json);
  part.string("type", type);
  part.string(type == "refusal" ? "refusal" : "text", text);
  part.close();
  return json;
}

// {"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}
std::string image_part(const ContentPart& part) {
  if (part.url.empty() && part.data.empty()) return {};
  std::string json;
  json::ObjectWriter made(json);
  made.string("type", "input_image");
  made.string("image_url",
              part.url.empty() ? "data:" + part.media_type + ";base64," + part.data : part.url);
  std::string_view detail =
      json::given_member(json::given_member(part.json, "image_url"), "detail");
  if (detail.empty()) detail = json::given_member(part.json, "detail");
  if (!detail.empty()) made.raw("detail", detail);
  made.close();
  return json;
}

// {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}. Parts in the API's own form
// pass as they are.
std::string other_input_part(const ContentPart& part) {
  const std::string_view type = json::given_member(part.json, "type");
  if (type == "\"input_file\"" || type == "\"input_image\"") return part.json;
  const std::string_view file = json::given_member(part.json, "file");
  if (type != "\"file\"" || file.empty()) return {};
  std::string json;
  json::ObjectWriter made(json);
  made.string("type", "input_file");
  for (const std::string_view name : {"filename", "file_data", "file_id", "file_url", "detail"}) {
    if (const std::string_view value = json::given_member(file, name); !value.empty())
      made.raw(name, value);
  }
  made.close();
  return json;
}

class InputWriter {
 public:
  explicit InputWriter(const Request& request) : messages_(request.messages) {
    for (std::string& name : custom_tool_names(request)) custom_tools_.insert(std::move(name));
  }

  ResponsesInput write() {
    for (at_ = 0; at_ < messages_.size(); ++at_) add(messages_[at_]);
    ResponsesInput made{.items = "[", .dropped = std::move(dropped_)};
    for (const Item& item : items_) {
      if (made.items.size() > 1) made.items.push_back(',');
      made.items.append(item.json);
    }
    made.items.push_back(']');
    return made;
  }

 private:
  void add(const Message& message) {
    if (message.role == Role::tool) return add_result(message);
    if (!message.name.empty()) drop("name", false);
    if (message.role == Role::assistant) return add_assistant(message);
    const std::string content = content_of(message, "input_text");
    if (!content.empty()) return items_.push_back(message_item(message.role, content));
    if (message.role == Role::user) drop("content", true);
  }

  static Item message_item(Role role, std::string_view content) {
    Item made;
    json::ObjectWriter item(made.json);
    item.string("type", "message");
    item.string("role", role_name(role));
    item.key("content").append("[").append(content).append("]");
    item.close();
    return made;
  }

  // Parts with commas between them; empty when there are none.
  std::string content_of(const Message& message, std::string_view text_type) {
    std::string list;
    const std::vector<ContentPart> parts = parts_of(message.content);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string json = part_of(parts[i], text_type);
      if (json.empty()) {
        drop("content[" + std::to_string(i) + "]", true);
        continue;
      }
      if (!list.empty()) list.push_back(',');
      list.append(json);
    }
    return list;
  }

  static std::string part_of(const ContentPart& part, std::string_view text_type) {
    const bool answered = text_type == "output_text";
    switch (part.kind) {
      case ContentPart::Kind::text: {
        const bool refused = answered && json::given_member(part.json, "type") == "\"refusal\"";
        return text_part(refused ? "refusal" : text_type, part.text);
      }
      case ContentPart::Kind::image:
        if (answered) return {};
        return part.url.empty() && part.data.empty() ? other_input_part(part) : image_part(part);
      case ContentPart::Kind::other:
        return answered ? std::string() : other_input_part(part);
    }
    return {};
  }

  void add_assistant(const Message& message) {
    std::vector<Item> items;
    std::string content = content_of(message, "output_text");
    const std::string refusal = field_text(message.extra, "refusal");
    if (!refusal.empty()) {
      if (!content.empty()) content.push_back(',');
      content.append(text_part("refusal", refusal));
    }
    if (!content.empty()) items.push_back(message_item(Role::assistant, content));
    for (const CallRecord& call : message.calls) add_call(call, items);
    add_mixed_calls(message, items);
    if (!find_field(message.extra, "audio").empty()) drop("audio", true);
    std::vector<ReasoningParam> reasoning = reasoning_items(message);
    if (items.empty() && !reasoning.empty()) drop("reasoning_details", false);
    for (Item& item : with_reasoning(std::move(items), std::move(reasoning))) {
      items_.push_back(std::move(item));
    }
  }

  void add_call(const CallRecord& call, std::vector<Item>& items) {
    const bool custom = custom_tools_.contains(call.name);
    const std::string id = call.id.empty() ? unnamed_.name_call() : responses_call_id(call.id);
    if (!custom) return items.push_back(call_item("function_call", id, call.name, call.arguments));
    custom_calls_.insert(id);
    items.push_back(call_item("custom_tool_call", id, call.name, input_of(call.arguments)));
  }

  // Where custom calls are among them, a client's calls come as they were written:
  //   [{"id":"a","type":"custom","custom":{"name":"run","input":"ls"}}]
  void add_mixed_calls(const Message& message, std::vector<Item>& items) {
    const std::string_view calls = find_field(message.extra, "tool_calls");
    if (calls.empty()) return;
    json::Reader in(calls);
    if (in.peek() != json::Kind::array) return;
    while (in.next_element()) {
      const std::string_view call = in.raw();
      const std::string_view custom = json::given_member(call, "custom");
      const std::string_view function = json::given_member(call, "function");
      CallRecord record{.id = text_in(call, "id")};
      if (!custom.empty()) {
        record.name = text_in(custom, "name");
        const std::string id =
            record.id.empty() ? unnamed_.name_call() : responses_call_id(record.id);
        custom_calls_.insert(id);
        items.push_back(call_item("custom_tool_call", id, record.name, text_in(custom, "input")));
      } else if (!function.empty()) {
        record.name = text_in(function, "name");
        record.arguments = text_in(function, "arguments");
        add_call(record, items);
      } else {
        drop("tool_calls", true);
      }
    }
  }

  static std::string text_in(std::string_view object, std::string_view name) {
    json::Reader in(json::given_member(object, name));
    return in.peek() == json::Kind::string ? std::string(in.string()) : std::string();
  }

  // {"input":"ls"}, as the decoder writes it; anything else is the input itself.
  static std::string input_of(const std::string& arguments) {
    json::Reader in(json::given_member(arguments, "input"));
    return in.peek() == json::Kind::string ? std::string(in.string()) : arguments;
  }

  static Item call_item(std::string_view type, std::string_view id, std::string_view name,
                        std::string_view said) {
    Item made;
    json::ObjectWriter item(made.json);
    item.string("type", type);
    item.string("call_id", id);
    item.string("name", name);
    item.string(type == "function_call" ? "arguments" : "input", said);
    item.close();
    return made;
  }

  void add_result(const Message& message) {
    std::string id = message.tool_call_id.empty() ? unnamed_.answered()
                                                  : responses_call_id(message.tool_call_id);
    Item made;
    json::ObjectWriter item(made.json);
    item.string("type",
                custom_calls_.contains(id) ? "custom_tool_call_output" : "function_call_output");
    item.string("call_id", id);
    write_output(item.key("output"), message);
    item.close();
    items_.push_back(std::move(made));
    if (field_text(message.extra, "is_error") == "true") drop("is_error", false);
  }

  // A string where one text is all there is.
  void write_output(std::string& out, const Message& message) {
    const std::vector<ContentPart> parts = parts_of(message.content);
    if (parts.empty() || (parts.size() == 1 && parts[0].kind == ContentPart::Kind::text)) {
      return json::append_string(out, parts.empty() ? "" : parts[0].text);
    }
    const std::string content = content_of(message, "input_text");
    if (content.empty()) return json::append_string(out, "");
    out.append("[").append(content).append("]");
  }

  void drop(std::string_view what, bool changes_meaning) {
    dropped_.push_back(
        {"messages[" + std::to_string(at_) + "]." + std::string(what), changes_meaning});
  }

  const std::vector<Message>& messages_;
  std::size_t at_ = 0;
  std::unordered_set<std::string> custom_tools_;
  std::unordered_set<std::string> custom_calls_;  // ids
  std::vector<Item> items_;
  UnnamedCalls unnamed_;
  std::vector<DroppedField> dropped_;
};

}  // namespace

std::string responses_call_id(std::string_view id) {
  if (id.size() <= kMaxCallId) return std::string(id);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string written = "cg_";
  for (const std::uint8_t byte : Sha256().push(id).finish()) {
    if (written.size() >= 3 + 32) break;
    written.push_back(kHex[byte >> 4]);
    written.push_back(kHex[byte & 15]);
  }
  return written;
}

ResponsesInput encode_responses_input(const Request& request) {
  return InputWriter(request).write();
}

}  // namespace callgate::upstream
