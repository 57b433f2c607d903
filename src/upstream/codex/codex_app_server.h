// `codex app-server`: Codex as a child program that speaks JSON-RPC in lines. What is encoded is not one request but the
// parts that a conversation with the child is made of; server/codex_app_server.h conducts it:
//
//   {"thread":{"model":"gpt-5","baseInstructions":"Be brief.","dynamicTools":[...]},      of thread/start
//    "items":[{"type":"message","role":"user","content":[...]},...],                     of thread/inject_items
//    "turn":{"input":[{"type":"text","text":"hi"}],"effort":"low"},                      of turn/start
//    "results":[{"callId":"call_1","result":{"contentItems":[...],"success":true}}]}     for calls that wait
#pragma once

#include <span>
#include <string_view>

#include "upstream/wire_format.h"

namespace callgate::upstream {

// Top-level fields of a request that reach codex, in the order of docs/upstreams.md.
std::span<const std::string_view> codex_app_server_fields();

extern const WireFormat kCodexAppServer;

}  // namespace callgate::upstream
