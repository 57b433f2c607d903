#include "upstream/ollama/ollama_messages.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "json/each.h"
#include "json/member.h"
#include "json/writer.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

class MessagesWriter {
 public:
  MessagesWriter(std::string& out, const std::vector<Message>& messages,
                 std::vector<DroppedField>& dropped, std::string_view as_written)
      : out_(out), messages_(messages), dropped_(dropped), own_(matched(messages, as_written)) {}

  void write() {
    out_.push_back('[');
    while (at_ < messages_.size()) {
      if (messages_[at_].role == Role::tool) {
        write_results();
      } else {
        write_message(messages_[at_]);
        ++at_;
      }
    }
    out_.push_back(']');
  }

 private:
  struct Result {
    std::size_t message = 0;
    std::size_t order = 0;  // the place of its call
    std::string_view name;
  };

  // For each message what the client of this format wrote, empty where that is not known or the message has changed.
  static std::vector<std::string_view> matched(const std::vector<Message>& messages,
                                               std::string_view as_written) {
    std::vector<std::string_view> own(messages.size());
    std::size_t at = 0;
    json::each_element(as_written, [&](std::string_view json) {
      // Messages that callgate put before it are passed over, but nothing else.
      while (at < messages.size() && is_prompt(messages[at]) && !says(json, messages[at])) ++at;
      if (at < messages.size() && says(json, messages[at])) own[at] = json;
      ++at;
    });
    return own;
  }

  static bool says(std::string_view json, const Message& message) {
    std::size_t calls = 0;
    json::each_element(json::given_member(json, "tool_calls"), [&](std::string_view) { ++calls; });
    return json::member_text(json, "role") == role_name(message.role) &&
           json::member_text(json, "content") == text_of(message.content) &&
           calls == message.calls.size();
  }

  // True: the message left as its client wrote it.
  bool write_own(const Message& message) {
    if (own_[at_].empty()) return false;
    separate();
    out_.append(own_[at_]);
    for (const CallRecord& call : message.calls) {
      if (!call.id.empty()) names_[call.id] = call.name;
    }
    return true;
  }

  void write_message(const Message& message) {
    if (write_own(message)) return;
    separate();
    json::ObjectWriter object(out_);
    object.string("role", plain_role_name(message.role));
    write_content(object, message);
    if (message.role == Role::assistant) write_assistant(object, message);
    object.close();
    if (!message.name.empty()) drop("name", false);
  }

  void write_content(json::ObjectWriter& object, const Message& message) {
    const std::vector<ContentPart> parts = parts_of(message.content);
    std::string text = text_of(message.content);
    if (text.empty() && message.role == Role::assistant) {
      text = field_text(message.extra, "refusal");
    }
    object.string("content", text);
    std::string images;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == ContentPart::Kind::text) continue;
      if (parts[i].kind != ContentPart::Kind::image || parts[i].data.empty()) {
        drop("content[" + std::to_string(i) + "]", true);
        continue;
      }
      if (!images.empty()) images.push_back(',');
      json::append_string(images, parts[i].data);
    }
    if (!images.empty()) object.key("images").append("[").append(images).append("]");
  }

  void write_assistant(json::ObjectWriter& object, const Message& message) {
    if (const std::string thinking = thinking_of(message); !thinking.empty()) {
      object.string("thinking", thinking);
    }
    if (!find_field(message.extra, "tool_calls").empty()) drop("tool_calls", true);
    if (!find_field(message.extra, "audio").empty()) drop("audio", true);
    if (message.calls.empty()) return;
    std::string& out = object.key("tool_calls");
    out.push_back('[');
    for (const CallRecord& call : message.calls) {
      if (out.back() != '[') out.push_back(',');
      json::ObjectWriter item(out);
      if (!call.id.empty()) item.string("id", call.id);
      json::ObjectWriter function(item.key("function"));
      function.string("name", call.name);
      append_arguments_object(function.key("arguments"), call.arguments);
      function.close();
      item.close();
      if (!call.id.empty()) names_[call.id] = call.name;
    }
    out.push_back(']');
  }

  // What another wire format has sealed belongs to that model, with its text.
  static std::string thinking_of(const Message& message) {
    if (!find_field(message.extra, "reasoning_details").empty()) return {};
    for (const std::string_view name : {"reasoning_content", "reasoning"}) {
      if (find_field(message.extra, name).starts_with('"')) return field_text(message.extra, name);
    }
    return {};
  }

  // All results up to the next other message.
  void write_results() {
    std::size_t end = at_;
    while (end < messages_.size() && messages_[end].role == Role::tool) ++end;
    std::vector<Result> results = placed(at_, end);
    std::stable_sort(results.begin(), results.end(),
                     [](const Result& a, const Result& b) { return a.order < b.order; });
    for (const Result& result : results) {
      at_ = result.message;
      write_result(messages_[at_], result.name);
    }
    at_ = end;
  }

  // Each result with its call: the one that has its id, else the first that no result has.
  std::vector<Result> placed(std::size_t begin, std::size_t end) const {
    static const std::vector<CallRecord> kNone;
    const std::vector<CallRecord>& calls = begin == 0 ? kNone : messages_[begin - 1].calls;
    std::unordered_map<std::string_view, std::vector<std::size_t>> by_id;  // last one first
    for (std::size_t i = calls.size(); i-- > 0;) by_id[calls[i].id].push_back(i);
    std::vector<bool> answered(calls.size());
    std::vector<Result> results;
    for (std::size_t i = begin; i < end; ++i) {
      Result result{.message = i, .order = calls.size(), .name = messages_[i].name};
      const auto same = by_id.find(messages_[i].tool_call_id);
      if (!messages_[i].tool_call_id.empty() && same != by_id.end() && !same->second.empty()) {
        result.order = same->second.back();
        same->second.pop_back();
        answered[result.order] = true;
      }
      results.push_back(result);
    }
    std::size_t next = 0;
    for (Result& result : results) {
      const std::string& id = messages_[result.message].tool_call_id;
      if (result.order == calls.size() && id.empty()) {
        while (next < calls.size() && answered[next]) ++next;
        if (next < calls.size()) result.order = next++;
      }
      if (result.order < calls.size()) {
        result.name = calls[result.order].name;
      } else if (const auto known = names_.find(id); known != names_.end()) {
        result.name = known->second;
      }
    }
    return results;
  }

  void write_result(const Message& message, std::string_view name) {
    if (write_own(message)) return;
    separate();
    json::ObjectWriter object(out_);
    object.string("role", "tool");
    write_content(object, message);
    if (!name.empty()) object.string("tool_name", name);
    if (!message.tool_call_id.empty()) object.string("tool_call_id", message.tool_call_id);
    object.close();
    if (field_text(message.extra, "is_error") == "true") drop("is_error", false);
  }

  void separate() {
    if (out_.back() != '[') out_.push_back(',');
  }

  void drop(std::string_view what, bool changes_meaning) {
    dropped_.push_back(
        {"messages[" + std::to_string(at_) + "]." + std::string(what), changes_meaning});
  }

  std::string& out_;
  const std::vector<Message>& messages_;
  std::vector<DroppedField>& dropped_;
  const std::vector<std::string_view> own_;
  std::size_t at_ = 0;
  std::unordered_map<std::string_view, std::string_view> names_;  // of calls, by id
};

}  // namespace

void append_ollama_messages(std::string& out, const std::vector<Message>& messages,
                            std::vector<DroppedField>& dropped, std::string_view as_written) {
  MessagesWriter(out, messages, dropped, as_written).write();
}

}  // namespace callgate::upstream
