#include "upstream/anthropic_messages/anthropic_block.h"

#include <algorithm>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_messages.h"

namespace callgate::upstream {
namespace {

void append_source(json::ObjectWriter& block, std::string_view media_type, std::string_view data) {
  json::ObjectWriter source(block.key("source"));
  source.string("type", "base64");
  source.string("media_type", media_type == "image/jpg" ? "image/jpeg" : media_type);
  source.string("data", data);
  source.close();
}

std::optional<AnthropicParam> image_block(const ContentPart& part) {
  if (part.data.empty() && !part.url.starts_with("http")) return std::nullopt;
  AnthropicParam made;
  json::ObjectWriter block(made.json);
  block.string("type", "image");
  if (part.data.empty()) {
    json::ObjectWriter source(block.key("source"));
    source.string("type", "url");
    source.string("url", part.url);
    source.close();
  } else {
    append_source(block, part.media_type, part.data);
  }
  block.close();
  return made;
}

// {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}
std::optional<AnthropicParam> document_block(const ContentPart& part) {
  constexpr std::string_view kPdf = "data:application/pdf;base64,";
  const std::string_view file = json::given_member(part.json, "file");
  const std::string data = json::member_text(file, "file_data");
  if (!data.starts_with(kPdf)) return std::nullopt;
  AnthropicParam made;
  json::ObjectWriter block(made.json);
  block.string("type", "document");
  append_source(block, "application/pdf", std::string_view(data).substr(kPdf.size()));
  if (const std::string title = json::member_text(file, "filename"); !title.empty()) {
    block.string("title", title);
  }
  block.close();
  return made;
}

// Blocks in the API's own form pass as they are.
std::optional<AnthropicParam> other_block(const ContentPart& part) {
  const std::string type = json::member_text(part.json, "type");
  if (type == "file") return document_block(part);
  if (type != "document" && type != "image" && type != "search_result") return std::nullopt;
  return AnthropicParam{.json = part.json,
                        .cached = !json::given_member(part.json, "cache_control").empty()};
}

std::optional<ThinkingParam> thinking_block(std::string_view detail) {
  if (json::member_text(detail, "format") != kAnthropicReasoning) return std::nullopt;
  const std::string type = json::member_text(detail, "type");
  ThinkingParam made;
  json::ObjectWriter block(made.json);
  if (type == "reasoning.text" && !json::given_member(detail, "signature").empty()) {
    block.string("type", "thinking");
    block.string("thinking", json::member_text(detail, "text"));
    block.string("signature", json::member_text(detail, "signature"));
  } else if (type == "reasoning.encrypted" && !json::given_member(detail, "data").empty()) {
    block.string("type", "redacted_thinking");
    block.string("data", json::member_text(detail, "data"));
  } else {
    return std::nullopt;
  }
  block.close();
  json::Reader index(json::given_member(detail, "index"));
  if (index.peek() == json::Kind::number) made.index = index.integer().value_or(0);
  return made;
}

}  // namespace

void set_cache_control(AnthropicParam& block, std::string_view json) {
  if (block.cached || json.empty()) return;
  block.json.pop_back();
  block.json.append(",\"cache_control\":").append(json).push_back('}');
  block.cached = true;
}

AnthropicParam text_block(std::string_view text) {
  AnthropicParam made;
  json::ObjectWriter block(made.json);
  block.string("type", "text");
  block.string("text", text);
  block.close();
  return made;
}

std::optional<AnthropicParam> block_of(const ContentPart& part, bool& lost) {
  lost = false;
  std::optional<AnthropicParam> block;
  switch (part.kind) {
    case ContentPart::Kind::text:
      if (is_ascii_blank(part.text)) return std::nullopt;
      block = text_block(part.text);
      break;
    case ContentPart::Kind::image:
      block = image_block(part);
      break;
    case ContentPart::Kind::other:
      block = other_block(part);
      break;
  }
  lost = !block;
  if (block) set_cache_control(*block, json::given_member(part.json, "cache_control"));
  return block;
}

AnthropicParam call_block(const CallRecord& call, std::string_view id) {
  AnthropicParam made;
  json::ObjectWriter block(made.json);
  block.string("type", "tool_use");
  block.string("id", id);
  block.string("name", call.name);
  append_arguments_object(block.key("input"), call.arguments);
  block.close();
  set_cache_control(made, find_field(call.extra, "cache_control"));
  return made;
}

std::vector<ThinkingParam> thinking_blocks(const Message& message) {
  std::vector<ThinkingParam> blocks;
  const std::string_view details = find_field(message.extra, "reasoning_details");
  if (details.empty()) return blocks;
  json::Reader in(details);
  if (in.peek() != json::Kind::array) return blocks;
  while (in.next_element()) {
    if (auto block = thinking_block(in.raw())) blocks.push_back(std::move(*block));
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const auto& a, const auto& b) { return a.index < b.index; });
  return blocks;
}

}  // namespace callgate::upstream
