#include "client/anthropic_messages/messages_block.h"

#include <array>
#include <utility>

#include "chat/field_reader.h"
#include "chat/message_json.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::string_view kTextPart = "{\"type\":\"text\",\"text\":";

// The text of a JSON string as it is written there, without its quotes.
std::string_view inside(std::string_view string) { return string.substr(1, string.size() - 2); }

bool is_string(std::string_view json) { return json.starts_with('"'); }

// `string`: JSON.
void append_text_part(std::vector<std::string>& parts, std::string_view string) {
  parts.push_back(std::string(kTextPart).append(string).append("}"));
}

void append_plain_part(std::vector<std::string>& parts, std::string_view text) {
  std::string string;
  json::append_string(string, text);
  append_text_part(parts, string);
}

struct Source {
  std::string type;
  std::string_view media_type;
  std::string_view data;
  std::string_view url;
  std::string_view content;
};

Source read_source(std::string_view json) {
  Source source;
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return source;
  for (std::string_view key; in.next_member(key);) {
    if (key == "type" && in.peek() == json::Kind::string) {
      source.type = in.string();
      continue;
    }
    std::string_view* member = key == "media_type" ? &source.media_type
                               : key == "data"     ? &source.data
                               : key == "url"      ? &source.url
                               : key == "content"  ? &source.content
                                                   : nullptr;
    const std::string_view value = in.raw();
    if (member != nullptr) *member = value;
  }
  return source;
}

}  // namespace

std::string_view found_kind(std::string_view json) {
  return json.empty() ? "missing" : name_of(json::Reader(json).peek());
}

std::string content_of(const std::vector<std::string>& parts) {
  const bool plain = parts.size() == 1 && parts.front().starts_with(kTextPart);
  if (!plain) return join_json(parts);
  return parts.front().substr(kTextPart.size(), parts.front().size() - kTextPart.size() - 1);
}

bool MessagesBlocks::fault(const MessagesPath& path, std::string_view found,
                           std::string_view expected) {
  error_ = {.code = ErrorCode::invalid_request, .message = {}, .param = path.text()};
  error_.message = error_.param + ": " + std::string(found) + ", expected " + std::string(expected);
  return false;
}

bool MessagesBlocks::expect(const MessagesPath& path, std::string_view json, bool good,
                            std::string_view expected) {
  return good || fault(path, found_kind(json), expected);
}

bool MessagesBlocks::take_text(const MessagesPath& path, std::string_view json, std::string& text) {
  if (!expect(path, json, is_string(json), "a string")) return false;
  json::Reader in(json);
  text = in.string();
  return true;
}

std::optional<MessagesBlock> MessagesBlocks::read(const MessagesPath& path, std::string_view json) {
  if (!expect(path, json, json.starts_with('{'), "a content block")) return std::nullopt;
  MessagesBlock block;
  std::string_view type;
  const std::array<std::pair<std::string_view, std::string_view*>, 15> members = {{
      {"type", &type},
      {"text", &block.text},
      {"source", &block.source},
      {"content", &block.content},
      {"title", &block.title},
      {"context", &block.context},
      {"id", &block.id},
      {"name", &block.name},
      {"input", &block.input},
      {"tool_use_id", &block.tool_use_id},
      {"is_error", &block.is_error},
      {"thinking", &block.thinking},
      {"signature", &block.signature},
      {"data", &block.data},
      {"tool_name", &block.tool_name},
  }};
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    std::string_view* member = nullptr;
    for (const auto& [name, place] : members) {
      if (name == key) member = place;
    }
    const std::string_view value = in.raw();
    if (member != nullptr) *member = value == "null" ? std::string_view() : value;
  }
  if (!take_text(MessagesPath(path, "type"), type, block.type)) return std::nullopt;
  if (!check_members(path, block)) return std::nullopt;
  return block;
}

// Members that are not looked at later where they are wrong.
bool MessagesBlocks::check_members(const MessagesPath& path, const MessagesBlock& block) {
  const bool thought = block.type == "thinking";
  const bool redacted = block.type == "redacted_thinking";
  const bool flag = block.is_error.empty() || block.is_error == "true" || block.is_error == "false";
  return (block.type != "tool_result" ||
          expect(MessagesPath(path, "is_error"), block.is_error, flag, "true or false")) &&
         (!thought || expect(MessagesPath(path, "thinking"), block.thinking,
                             is_string(block.thinking), "a string")) &&
         (!thought || expect(MessagesPath(path, "signature"), block.signature,
                             block.signature.empty() || is_string(block.signature), "a string")) &&
         (!redacted ||
          expect(MessagesPath(path, "data"), block.data, is_string(block.data), "a string"));
}

bool MessagesBlocks::append_parts(const MessagesPath& path, const MessagesBlock& block,
                                  std::vector<std::string>& parts) {
  if (block.type == "text") {
    const MessagesPath text(path, "text");
    if (!expect(text, block.text, is_string(block.text), "a string")) return false;
    append_text_part(parts, block.text);
    return true;
  }
  if (block.type == "image") return append_image(path, block, parts);
  if (block.type == "document") return append_document(path, block, parts);
  if (block.type == "search_result") return append_search_result(path, block, parts);
  if (block.type == "tool_reference") return append_reference(path, block, parts);
  // Others are kept as text where they have one.
  if (is_string(block.text)) {
    append_text_part(parts, block.text);
  } else {
    lost_.push_back(path.text());
  }
  return true;
}

bool MessagesBlocks::append_content(const MessagesPath& path, std::string_view content,
                                    std::vector<std::string>& parts) {
  if (is_string(content)) {
    append_text_part(parts, content);
    return true;
  }
  if (!expect(path, content, content.starts_with('['), "a string or an array of content blocks")) {
    return false;
  }
  json::Reader in(content);
  for (std::size_t i = 0; in.next_element(); ++i) {
    const MessagesPath at(path, i);
    const auto block = read(at, in.raw());
    if (!block || !append_parts(at, *block, parts)) return false;
  }
  return true;
}

bool MessagesBlocks::append_image(const MessagesPath& path, const MessagesBlock& block,
                                  std::vector<std::string>& parts) {
  const MessagesPath at(path, "source");
  if (!expect(at, block.source, block.source.starts_with('{'), "an object")) return false;
  const Source source = read_source(block.source);
  std::string part = R"({"type":"image_url","image_url":{"url":)";
  if (source.type == "base64") {
    const MessagesPath media(at, "media_type");
    const MessagesPath data(at, "data");
    if (!expect(media, source.media_type, is_string(source.media_type), "a string") ||
        !expect(data, source.data, is_string(source.data), "a string")) {
      return false;
    }
    part.reserve(part.size() + source.data.size() + 64);
    part.append("\"data:").append(inside(source.media_type)).append(";base64,");
    part.append(inside(source.data)).append("\"");
  } else if (source.type == "url") {
    const MessagesPath url(at, "url");
    if (!expect(url, source.url, is_string(source.url), "a string")) return false;
    part.append(source.url);
  } else {
    lost_.push_back(path.text());  // a file that the API keeps
    return true;
  }
  parts.push_back(part.append("}}"));
  return true;
}

bool MessagesBlocks::append_document(const MessagesPath& path, const MessagesBlock& block,
                                     std::vector<std::string>& parts) {
  const MessagesPath at(path, "source");
  if (!expect(at, block.source, block.source.starts_with('{'), "an object")) return false;
  const Source source = read_source(block.source);
  const bool named = is_string(block.title);
  if (source.type == "base64") {
    const MessagesPath data(at, "data");
    if (!expect(data, source.data, is_string(source.data), "a string")) return false;
    const std::string_view media =
        is_string(source.media_type) ? inside(source.media_type) : "application/pdf";
    std::string part = R"({"type":"file","file":{)";
    part.reserve(part.size() + source.data.size() + 128);
    if (named) part.append("\"filename\":").append(block.title).append(",");
    part.append("\"file_data\":\"data:").append(media).append(";base64,");
    parts.push_back(part.append(inside(source.data)).append("\"}}"));
    return true;
  }
  if (source.type == "text" || source.type == "content") {
    if (named) append_text_part(parts, block.title);
    if (is_string(block.context)) append_text_part(parts, block.context);
    const bool text = source.type == "text";
    const MessagesPath inner(at, text ? "data" : "content");
    return append_content(inner, text ? source.data : source.content, parts);
  }
  if (source.type == "url" && is_string(source.url)) {
    append_text_part(parts, source.url);
    return true;
  }
  lost_.push_back(path.text());
  return true;
}

// {"type":"search_result","source":"https://...","title":"...","content":[{"type":"text","text":"..."}]}
bool MessagesBlocks::append_search_result(const MessagesPath& path, const MessagesBlock& block,
                                          std::vector<std::string>& parts) {
  if (is_string(block.title)) append_text_part(parts, block.title);
  if (is_string(block.source)) append_text_part(parts, block.source);
  return append_content(MessagesPath(path, "content"), block.content, parts);
}

// {"type":"tool_reference","tool_name":"find"}: the tool is declared from now on, which a model learns from this text.
bool MessagesBlocks::append_reference(const MessagesPath& path, const MessagesBlock& block,
                                      std::vector<std::string>& parts) {
  std::string name;
  if (!take_text(MessagesPath(path, "tool_name"), block.tool_name, name)) return false;
  append_plain_part(parts, "The tool " + name + " is available now.");
  referenced_.push_back(std::move(name));
  return true;
}

}  // namespace callgate::client
