#include <array>

#include "script/reply/anthropic_reply.h"
#include "script/reply/codex_app_server_reply.h"
#include "script/reply/codex_proto_reply.h"
#include "script/reply/gemini_reply.h"
#include "script/reply/ollama_reply.h"
#include "script/reply/openai_chat_reply.h"
#include "script/reply/qwen_web_reply.h"
#include "script/reply/reply_encoder.h"
#include "script/reply/responses_reply.h"

namespace callgate::script {
namespace {

// A row per line.
// clang-format off
constexpr std::array<const ReplyFormat*, 8> kFormats{
    &kAnthropicReply,
    &kCodexAppServerReply,
    &kCodexProtoReply,
    &kGeminiReply,
    &kOllamaReply,
    &kOpenAiChatReply,
    &kResponsesReply,
    &kQwenWebReply,
};
// clang-format on

}  // namespace

std::span<const ReplyFormat* const> reply_formats() { return kFormats; }

const ReplyFormat* find_reply_format(std::string_view name) {
  for (const ReplyFormat* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace callgate::script
