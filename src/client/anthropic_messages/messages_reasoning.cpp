#include "client/anthropic_messages/messages_reasoning.h"

#include "chat/sealed_reasoning.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

std::string unescaped(std::string_view string) {
  json::Reader in(string);
  return in.peek() == json::Kind::string ? std::string(in.string()) : std::string();
}

}  // namespace

ReasoningDetail read_detail(std::string_view json) {
  ReasoningDetail detail;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return detail;
  for (std::string_view key; in.next_member(key);) {
    const bool string = in.peek() == json::Kind::string;
    if (string && (key == "type" || key == "format")) {
      std::string& member = key == "type" ? detail.type : detail.format;
      member = in.string();
      continue;
    }
    std::string_view* member = key == "text"        ? &detail.text
                               : key == "signature" ? &detail.signature
                               : key == "data"      ? &detail.data
                                                    : nullptr;
    const std::string_view value = in.raw();
    if (member != nullptr && string && value != "\"\"") *member = value;
  }
  return detail;
}

void ReturnedReasoning::add_detail(std::string_view json) {
  details_.append(details_.empty() ? "" : ",").append(json);
}

// False: it is somebody else's.
bool ReturnedReasoning::unseal(std::string_view text, std::string_view thinking) {
  const auto element = unseal_reasoning(text);
  if (!element) return false;
  sealed_ = true;
  const std::string format = json::member_text(*element, "format");
  if (format == kSealedText) {
    text_.append(unescaped(thinking));
  } else if (format == kSealedCall) {
    const std::string_view fields = json::given_member(*element, "fields");
    if (fields.starts_with('{')) calls_.emplace_back(json::member_text(*element, "call"), fields);
  } else if (format == kSealedList) {
    json::Reader in(json::given_member(*element, "details"));
    if (in.peek() != json::Kind::array) return true;
    while (in.next_element()) {
      const std::string_view each = in.raw();
      if (each.starts_with('{')) add_detail(each);
    }
  } else {
    add_detail(*element);
  }
  return true;
}

void ReturnedReasoning::add_thinking(std::string_view text, std::string_view signature,
                                     std::size_t index) {
  const std::string seal = unescaped(signature);
  if (seal.empty()) {
    text_.append(unescaped(text));
    return;
  }
  if (unseal(seal, text)) return;
  std::string detail;
  json::ObjectWriter item(detail);
  item.string("type", "reasoning.text");
  item.raw("text", text.starts_with('"') ? text : "\"\"");
  item.raw("signature", signature);
  item.string("format", kAnthropicIssuer);
  item.integer("index", static_cast<std::int64_t>(index));
  item.close();
  add_detail(detail);
}

void ReturnedReasoning::add_redacted(std::string_view data, std::size_t index) {
  const std::string seal = unescaped(data);
  if (seal.empty() || unseal(seal, {})) return;
  std::string detail;
  json::ObjectWriter item(detail);
  item.string("type", "reasoning.encrypted");
  item.raw("data", data);
  item.string("format", kAnthropicIssuer);
  item.integer("index", static_cast<std::int64_t>(index));
  item.close();
  add_detail(detail);
}

// Models that think between their calls want plain thoughts back; after an answer they have no use for them.
void ReturnedReasoning::apply_to(Message& message) const {
  if (!details_.empty()) {
    message.extra.push_back({"reasoning_details", {"[" + details_ + "]"}});
  } else if (!text_.empty() && !message.calls.empty()) {
    std::string thoughts;
    json::append_string(thoughts, text_);
    message.extra.push_back({"reasoning_content", {std::move(thoughts)}});
  }
  for (const auto& [id, fields] : calls_) {
    for (CallRecord& call : message.calls) {
      if (call.id != id) continue;
      json::Reader in(fields);
      for (std::string_view key; in.next_member(key);) {
        std::string name(key);
        call.extra.push_back({std::move(name), {std::string(in.raw())}});
      }
    }
  }
}

}  // namespace callgate::client
