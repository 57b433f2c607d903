// `codex proto` (up to 0.42): Codex as a child program per conversation. What is encoded are the prompts for a child that
// knows nothing yet, and for one that knows the conversation up to the last answer; server/codex_proto.h sends one.
//
//   {"first":[{"type":"text","text":"[user]\nhi\n\n[assistant]\nHello.\n\n[user]\nand now?"}],
//    "next":[{"type":"text","text":"and now?"}],"model":"gpt-5","effort":"low"}
//
// Tools of clients cannot be carried: codex takes tools from MCP servers in its own configuration only.
#pragma once

#include <span>
#include <string_view>

#include "upstream/wire_format.h"

namespace callgate::upstream {

std::span<const std::string_view> codex_proto_fields();

extern const WireFormat kCodexProto;

}  // namespace callgate::upstream
