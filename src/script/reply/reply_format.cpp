#include <array>

#include "client/gemini/gemini.h"
#include "client/ollama/ollama.h"
#include "script/reply/anthropic_reply.h"
#include "script/reply/codex_app_server_reply.h"
#include "script/reply/codex_proto_reply.h"
#include "script/reply/openai_chat_reply.h"
#include "script/reply/protocol_formats.h"
#include "script/reply/protocol_reply.h"
#include "script/reply/qwen_web_reply.h"
#include "script/reply/reply_encoder.h"
#include "script/reply/responses_reply.h"

namespace callgate::script {
namespace {

template <const WireFaults& wire>
std::unique_ptr<ReplyEncoder> make_reply(ReplyIdentity identity, const Faults& faults) {
  return make_protocol_reply(wire, std::move(identity), faults);
}

constinit const ReplyFormat kGeminiReply{
    .name = "gemini",
    .id_prefix = "",
    .call_prefix = "fn_",
    .serves =
        [](std::string_view path) {
          return path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent");
        },
    .protocol = &client::kGemini,
    .make_encoder = make_reply<kGeminiFaults>,
};

constinit const ReplyFormat kOllamaReply{
    .name = "ollama",
    .id_prefix = "",
    .call_prefix = "call_",
    .serves = [](std::string_view path) { return path.ends_with("/api/chat"); },
    .protocol = &client::kOllama,
    .make_encoder = make_reply<kOllamaFaults>,
};

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
