#include "upstream/gemini/gemini_origin.h"

#include <algorithm>

#include "chat/content.h"
#include "json/member.h"
#include "json/reader.h"

namespace callgate::upstream {
namespace {

// How sealed_reasoning.h begins.
constexpr std::string_view kSealed = "\"callgate.";

std::string_view either(std::string_view object, std::string_view name, std::string_view other) {
  const std::string_view value = json::given_member(object, name);
  return value.empty() ? json::given_member(object, other) : value;
}

template <class Visit>
void each_part(std::string_view content, Visit visit) {
  const std::string_view parts = json::given_member(content, "parts");
  json::Reader in(parts);
  if (in.peek() == json::Kind::object) return visit(parts);
  if (in.peek() != json::Kind::array) return;
  while (in.next_element()) visit(in.raw());
}

// The text of parts, one per line, as text_of() has it.
void add_line(std::string& text, std::string_view line, bool& first) {
  if (line.empty()) return;
  if (!first) text.push_back('\n');
  first = false;
  text.append(line);
}

}  // namespace

GeminiOrigin::GeminiOrigin(std::string_view body) {
  system_ = either(body, "systemInstruction", "system_instruction");
  json::Reader in(json::given_member(body, "contents"));
  if (in.peek() != json::Kind::array) return;
  while (in.next_element()) contents_.push_back(read_content(in.raw()));
}

GeminiOrigin::Content GeminiOrigin::read_content(std::string_view json) {
  const std::string role = json::member_text(json, "role");
  Content content{.json = json, .model = role == "model", .parts = {}};
  content.foreign = json.find(kSealed) != std::string_view::npos;
  each_part(json, [&](std::string_view raw) {
    Part& part = content.parts.emplace_back();
    part.is_text = !json::given_member(raw, "text").empty();
    part.text = json::member_text(raw, "text");
    part.thought = json::given_member(raw, "thought") == "true";
    part.has_signature = !either(raw, "thoughtSignature", "thought_signature").empty();
    part.call = either(raw, "functionCall", "function_call");
    part.response = either(raw, "functionResponse", "function_response");
  });
  return content;
}

std::string_view GeminiOrigin::system(const Message& message) const {
  std::string text;
  bool first = true;
  each_part(system_,
            [&](std::string_view raw) { add_line(text, json::member_text(raw, "text"), first); });
  return !text.empty() && text == text_of(message.content) ? system_ : std::string_view();
}

bool GeminiOrigin::is_result(const Part& part, const Message& message) {
  if (message.role != Role::tool || message.name != json::member_text(part.response, "name")) {
    return false;
  }
  const std::string_view response = json::given_member(part.response, "response");
  const std::string text = text_of(message.content);
  if (text == response) return true;
  for (const std::string_view name : {"output", "result", "error"}) {
    const std::string_view value = json::given_member(response, name);
    if (value == text || (value.starts_with('"') && json::member_text(response, name) == text)) {
      return true;
    }
  }
  return response.empty() && text == "{}";
}

// Results are messages of their own, before what else the content says.
bool GeminiOrigin::user_match(const Content& content, const std::vector<Message>& messages,
                              std::size_t at, std::size_t& count) const {
  count = 0;
  std::string text;
  bool first = true;
  std::size_t others = 0;
  for (const Part& part : content.parts) {
    if (!part.response.empty()) {
      if (at + count == messages.size() || !is_result(part, messages[at + count])) return false;
      ++count;
    } else if (part.is_text) {
      add_line(text, part.text, first);
    } else {
      ++others;
    }
  }
  if (text.empty() && others == 0) return count > 0;
  if (at + count == messages.size()) return false;
  const Message& rest = messages[at + count];
  const std::vector<ContentPart> parts = parts_of(rest.content);
  const auto kept = std::count_if(parts.begin(), parts.end(), [](const ContentPart& part) {
    return part.kind != ContentPart::Kind::text;
  });
  ++count;
  return rest.role == Role::user && text_of(rest.content) == text &&
         static_cast<std::size_t>(kept) == others;
}

// A first call without a signature needs one that stands for it: that content is written anew.
bool GeminiOrigin::model_match(const std::vector<const Content*>& group, const Message& message) {
  std::string text;
  std::size_t calls = 0;
  for (const Content* content : group) {
    if (content->foreign) return false;
    for (const Part& part : content->parts) {
      if (part.call.empty()) {
        if (part.is_text && !part.thought) text.append(part.text);
        continue;
      }
      if (calls == 0 && !part.has_signature) return false;
      if (calls == message.calls.size()) return false;
      const CallRecord& call = message.calls[calls++];
      const std::string_view args = json::given_member(part.call, "args");
      if (call.name != json::member_text(part.call, "name")) return false;
      if (call.arguments != (args.empty() ? "{}" : args)) return false;
    }
  }
  return message.role == Role::assistant && calls == message.calls.size() &&
         text_of(message.content) == text;
}

std::optional<GeminiOrigin::Match> GeminiOrigin::match(const std::vector<Message>& messages,
                                                       std::size_t at) {
  if (next_ == contents_.size() || at == messages.size()) return std::nullopt;
  Match match;
  if (!contents_[next_].model) {
    if (!user_match(contents_[next_], messages, at, match.messages)) {
      next_ = contents_.size();  // out of step: nothing after it can be told
      return std::nullopt;
    }
    match.contents.push_back(contents_[next_++].json);
    return match;
  }
  std::vector<const Content*> group;
  for (; next_ < contents_.size() && contents_[next_].model; ++next_) {
    group.push_back(&contents_[next_]);
  }
  if (messages[at].role != Role::assistant) {
    next_ = contents_.size();
    return std::nullopt;
  }
  if (!model_match(group, messages[at])) return std::nullopt;
  for (const Content* content : group) match.contents.push_back(content->json);
  match.messages = 1;
  return match;
}

}  // namespace callgate::upstream
