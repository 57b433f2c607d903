#include <array>

#include "script/anthropic_reply.h"
#include "script/codex_app_server_reply.h"
#include "script/codex_proto_reply.h"
#include "script/gemini_reply.h"
#include "script/ollama_reply.h"
#include "script/openai_chat_reply.h"
#include "script/qwen_web_reply.h"
#include "script/reply_encoder.h"
#include "script/responses_reply.h"

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
