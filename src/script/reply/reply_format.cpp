#include <array>

#include "client/anthropic_messages/anthropic_messages.h"
#include "client/gemini/gemini.h"
#include "client/ollama/ollama.h"
#include "client/openai_chat/openai_chat.h"
#include "client/openai_responses/openai_responses.h"
#include "script/reply/codex_app_server_reply.h"
#include "script/reply/codex_proto_reply.h"
#include "script/reply/protocol_formats.h"
#include "script/reply/protocol_reply.h"
#include "script/reply/qwen_web_reply.h"
#include "script/reply/reply_encoder.h"

namespace callgate::script {
namespace {

template <const WireFaults& wire>
std::unique_ptr<ReplyEncoder> make_reply(ReplyIdentity identity, const Faults& faults) {
  return make_protocol_reply(wire, std::move(identity), faults);
}

constinit const ReplyFormat kMessagesReply{
    .name = "anthropic_messages",
    .id_prefix = "msg_",
    .call_prefix = "toolu_",
    .serves = [](std::string_view path) { return path.ends_with("/messages"); },
    .protocol = &client::kAnthropicMessages,
    .make_encoder = make_reply<kMessagesFaults>,
};

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

constinit const ReplyFormat kChatReply{
    .name = "openai_chat",
    .id_prefix = "chatcmpl-",
    .call_prefix = "call_",
    .serves =
        [](std::string_view path) {
          return path.ends_with("/chat/completions") && !path.ends_with("/v2/chat/completions");
        },
    .protocol = &client::kOpenaiChat,
    .make_encoder = make_reply<kChatFaults>,
};

constinit const ReplyFormat kResponsesReply{
    .name = "openai_responses",
    .id_prefix = "resp_",
    .call_prefix = "call_",
    .serves = [](std::string_view path) { return path.ends_with("/responses"); },
    .protocol = &client::kOpenaiResponses,
    .make_encoder = make_reply<kResponsesFaults>,
};

// A row per line.
// clang-format off
constexpr std::array<const ReplyFormat*, 8> kFormats{
    &kMessagesReply,
    &kCodexAppServerReply,
    &kCodexProtoReply,
    &kGeminiReply,
    &kOllamaReply,
    &kChatReply,
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
