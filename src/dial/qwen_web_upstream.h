// Calls a Qwen web upstream, which keeps conversations: finds the answer that a request follows, starts a chat where there
// is none, sends what is new, and remembers the answer. Every POST goes through a plain target.
#pragma once

#include <cstdint>
#include <memory>

#include "dial/upstream_call.h"
#include "net/loop.h"
#include "session/conversation_claims.h"
#include "session/stored_conversations.h"

namespace callgate::server {

// What the gateway knows of conversations, over all loops.
struct ConversationMemory {
  MemoryConversations cache;
  StoredConversations answers{cache};
  ConversationClaims claims;
};

// REQUIRES: `memory` outlives the target. Ids of messages come from the seed.
std::unique_ptr<UpstreamTarget> make_qwen_web_target(net::Loop& loop, const UpstreamConfig& config,
                                                     std::unique_ptr<UpstreamTarget> posts,
                                                     ConversationMemory& memory,
                                                     std::uint64_t id_seed);

}  // namespace callgate::server
