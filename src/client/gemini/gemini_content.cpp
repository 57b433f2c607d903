#include "client/gemini/gemini_content.h"

#include <algorithm>

#include "chat/content.h"
#include "chat/sealed_reasoning.h"
#include "client/gemini/gemini.h"
#include "json/each.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// What the API takes for a signature that is lost; it says nothing.
constexpr std::string_view kNoSignature = "skip_thought_signature_validator";

std::string_view unquoted_json(std::string_view json) {
  return json.size() < 2 ? std::string_view() : json.substr(1, json.size() - 2);
}

void append_image_part(std::string& out, std::string_view before, std::string_view escaped) {
  out.append(R"({"type":"image_url","image_url":{"url":")");
  json::append_escaped(out, before);
  out.append(escaped).append("\"}}");
}

// Sound as input_audio, images as image_url, all else as a file.
void append_inline_part(std::string& out, const GeminiWirePart& part) {
  constexpr std::string_view kAudio = "audio/";
  const std::string before = "data:" + part.media_type + ";base64,";
  const std::string_view data = unquoted_json(part.data);
  if (part.media_type.starts_with("image/")) return append_image_part(out, before, data);
  json::ObjectWriter object(out);
  if (part.media_type.starts_with(kAudio)) {
    object.string("type", "input_audio");
    json::ObjectWriter audio(object.key("input_audio"));
    audio.raw("data", part.data);
    audio.string("format", std::string_view(part.media_type).substr(kAudio.size()));
    audio.close();
  } else {
    object.string("type", "file");
    json::ObjectWriter file(object.key("file"));
    file.string("filename", "file");
    std::string& value = file.key("file_data");
    value.push_back('"');
    json::append_escaped(value, before);
    value.append(data).push_back('"');
    file.close();
  }
  object.close();
}

void append_canonical_part(std::string& out, const GeminiWirePart& part) {
  if (part.text) {
    json::ObjectWriter object(out);
    object.string("type", "text");
    object.string("text", *part.text);
    return object.close();
  }
  if (!part.data.empty()) return append_inline_part(out, part);
  if (!part.file_uri.empty() && part.media_type.starts_with("image/")) {
    std::string escaped;
    json::append_escaped(escaped, part.file_uri);
    return append_image_part(out, {}, escaped);
  }
  // Something of the API's own, in the API's own form.
  json::ObjectWriter object(out);
  object.string("type", part.kind);
  object.raw_escaped(part.kind, json::member_json(part.raw, part.kind));
  object.close();
}

std::string gemini_detail(const GeminiWirePart& part, std::string_view place,
                          std::optional<std::size_t> call) {
  if (auto element = unseal_reasoning(part.signature)) return *element;
  std::string out;
  json::ObjectWriter item(out);
  item.string("type", "reasoning.encrypted");
  item.string("data", part.signature);
  item.string("format", kGeminiFormat);
  if (!place.empty()) item.string("id", place);
  if (call) item.integer("index", static_cast<std::int64_t>(*call));
  item.close();
  return out;
}

ExtraField& find_or_add_extra(Message& message, std::string_view name, std::string_view empty) {
  const auto known = std::find_if(message.extra.begin(), message.extra.end(),
                                  [&](const ExtraField& field) { return field.name == name; });
  if (known != message.extra.end()) return *known;
  return message.extra.emplace_back(ExtraField{std::string(name), {std::string(empty)}});
}

// Before the closing bracket or quotation mark of what is there.
void add_reasoning_detail(Message& message, std::string_view detail) {
  std::string& list = find_or_add_extra(message, "reasoning_details", "[]").value.text;
  list.pop_back();
  if (list.back() != '[') list.push_back(',');
  list.append(detail).push_back(']');
}

void add_reasoning_text(Message& message, std::string_view text) {
  std::string& reasoning = find_or_add_extra(message, "reasoning_content", "\"\"").value.text;
  reasoning.pop_back();
  json::append_escaped(reasoning, text);
  reasoning.push_back('"');
}

// {"output":"text"} and {"error":"text"} are that text; any other object is its JSON.
struct GeminiToolAnswer {
  std::string text;
  bool failed = false;
};
GeminiToolAnswer read_tool_answer(std::string_view response) {
  std::string name;
  std::string_view value;
  std::size_t members = 0;
  json::each_member(response, [&](std::string_view key, std::string_view json) {
    name = key;
    value = json;
    ++members;
  });
  const bool failed = members == 1 && name == "error";
  if (members != 1 || (!failed && name != "output" && name != "result")) {
    return {std::string(response)};
  }
  json::Reader only(value);
  return {std::string(only.peek() == json::Kind::string ? only.string() : value), failed};
}

}  // namespace

RawJson gemini_content(const std::vector<const GeminiWirePart*>& parts) {
  if (parts.empty()) return {};
  if (parts.size() == 1 && parts.front()->text) return text_content(*parts.front()->text);
  RawJson content{"["};
  for (const GeminiWirePart* part : parts) {
    if (content.text.size() > 1) content.text.push_back(',');
    append_canonical_part(content.text, *part);
  }
  content.text.push_back(']');
  return content;
}

void GeminiContents::clear() {
  messages_.clear();
  ids_ = {};
  in_model_ = false;
}

void GeminiContents::add_user(const std::vector<GeminiWirePart>& parts) {
  in_model_ = false;
  std::vector<const GeminiWirePart*> rest;
  for (const GeminiWirePart& part : parts) {
    if (part.is_response) {
      add_result(part);
    } else if (!part.text || !part.text->empty()) {
      rest.push_back(&part);
    }
  }
  if (rest.empty()) return;
  Message& message = messages_.emplace_back();
  message.content = gemini_content(rest);
}

void GeminiContents::add_result(const GeminiWirePart& part) {
  Message& message = messages_.emplace_back();
  message.role = Role::tool;
  message.tool_call_id = ids_.answered(part.name, part.id);
  message.name = part.name;
  const GeminiToolAnswer answer = read_tool_answer(part.response);
  if (part.media.empty()) {
    message.content = text_content(answer.text);
  } else {
    GeminiWirePart text;
    text.text = answer.text;
    std::vector<const GeminiWirePart*> all{&text};
    for (const GeminiWirePart& media : part.media) all.push_back(&media);
    message.content = gemini_content(all);
  }
  if (answer.failed) message.extra.push_back({"is_error", {"true"}});
}

void GeminiContents::add_call(const GeminiWirePart& part, Message& message) {
  CallRecord& call = message.calls.emplace_back();
  call.id = ids_.called(part.name, part.id);
  call.name = part.name;
  call.arguments = part.arguments.empty() ? std::string_view("{}") : part.arguments;
}

void GeminiContents::add_model(const std::vector<GeminiWirePart>& parts) {
  if (!in_model_) {
    messages_.emplace_back().role = Role::assistant;
    messages_.back().content.text = "null";
  }
  in_model_ = true;
  Message& message = messages_.back();
  std::string text = text_of(message.content);
  std::vector<const GeminiWirePart*> others;
  for (const GeminiWirePart& part : parts) {
    std::string_view place = "end";
    std::optional<std::size_t> index;
    if (part.is_call) {
      index = message.calls.size();
      place = part.id;
      add_call(part, message);
    } else if (part.text) {
      if (!part.text->empty()) place = part.thought ? "thought" : "text";
      if (!part.thought) text.append(*part.text);
      if (part.thought && !part.text->empty()) add_reasoning_text(message, *part.text);
    } else {
      others.push_back(&part);
    }
    if (!part.signature.empty() && part.signature != kNoSignature) {
      add_reasoning_detail(message, gemini_detail(part, place, index));
    }
  }
  if (!text.empty()) message.content = text_content(text);
  if (others.empty()) return;
  // What the API ran itself and the like, after the text.
  GeminiWirePart said;
  said.text = text;
  if (!text.empty()) others.insert(others.begin(), &said);
  message.content = gemini_content(others);
}

}  // namespace callgate::client
