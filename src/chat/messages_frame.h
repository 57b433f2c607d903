// What a Messages upstream says beside the vocabulary, on its way to a client that speaks the same: a field of the message whose
// JSON is a frame of the stream, with whatever callgate does not know of it. Only told to requests whose origin is that protocol.
//
//   {"type":"content_block_start","content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search"}}
//   {"type":"message_delta","delta":{"stop_reason":"pause_turn","container":{"id":"c1"}}}
#pragma once

#include <string_view>

namespace callgate {

inline constexpr std::string_view kMessagesFrame = "messages_frame";
// Members of a frame whose events callgate knows, which it does not: {"type":"content_block_delta","at":1,"delta":{"note":"x"}}. They
// belong to the next frame of that type.
inline constexpr std::string_view kMessagesMembers = "messages_members";
// Name of the protocol and of the wire format, as Request::origin has it.
inline constexpr std::string_view kMessagesOrigin = "anthropic_messages";

}  // namespace callgate
