#include <array>

#include "upstream/anthropic_messages/anthropic_messages.h"
#include "upstream/codex/codex_app_server.h"
#include "upstream/codex/codex_proto.h"
#include "upstream/gemini/gemini.h"
#include "upstream/ollama/ollama.h"
#include "upstream/openai_chat/openai_chat.h"
#include "upstream/openai_responses/openai_responses.h"
#include "upstream/qwen_web/qwen_web.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {
namespace {

// A row per line.
// clang-format off
constexpr std::array<const WireFormat*, 8> kAll = {
    &kAnthropicMessages,
    &kCodexAppServer,
    &kCodexProto,
    &kGemini,
    &kOllama,
    &kOpenaiChat,
    &kOpenaiResponses,
    &kQwenWeb,
};
// clang-format on

}  // namespace

std::span<const WireFormat* const> all() { return kAll; }

const WireFormat* find(std::string_view name) {
  for (const WireFormat* format : kAll) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace callgate::upstream
