#include "chat/token_estimate.h"

#include <string_view>

#include "chat/content.h"
#include "json/reader.h"

namespace callgate {
namespace {

constexpr std::int64_t kPerMessage = 4;
constexpr std::int64_t kPerTool = 16;
constexpr std::int64_t kPerImage = 1600;
// Of a file in base64: a page of text has some 1500 tokens and, as PDF, some 40 KiB.
constexpr std::int64_t kBytesPerFileToken = 30;

struct Characters {
  std::int64_t ascii = 0;
  std::int64_t others = 0;

  void add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      ascii += byte < 0x80 ? 1 : 0;
      others += byte >= 0xC0 ? 1 : 0;  // the first byte of a character
    }
  }
  std::int64_t tokens() const { return (ascii * 2 + 6) / 7 + others; }
};

std::int64_t add_content(const RawJson& content, Characters& text) {
  std::int64_t tokens = 0;
  for (const ContentPart& part : parts_of(content)) {
    switch (part.kind) {
      case ContentPart::Kind::text:
        text.add(part.text);
        break;
      case ContentPart::Kind::image:
        tokens += kPerImage;
        break;
      case ContentPart::Kind::other:
        tokens += static_cast<std::int64_t>(part.json.size()) / kBytesPerFileToken;
        break;
    }
  }
  return tokens;
}

}  // namespace

std::int64_t estimate_tokens(const Request& request) {
  Characters text;
  std::int64_t tokens = 0;
  for (const Message& message : request.messages) {
    tokens += kPerMessage + add_content(message.content, text);
    for (const CallRecord& call : message.calls) {
      tokens += kPerMessage;
      text.add(call.name);
      text.add(call.arguments);
    }
    text.add(find_field(message.extra, "reasoning_content"));
  }
  for (const ToolSpec& tool : request.tools) {
    tokens += kPerTool;
    text.add(tool.name);
    text.add(tool.description);
    text.add(tool.parameters.text);
  }
  for (const RawJson& tool : request.other_tools) text.add(tool.text);
  return tokens + text.tokens();
}

}  // namespace callgate
