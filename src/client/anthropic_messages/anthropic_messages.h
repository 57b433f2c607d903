// Anthropic Messages as clients speak it. What is written satisfies the strictest clients at once:
//
//   event: message_start
//   data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],...}}
//   ... per block content_block_start, content_block_delta, content_block_stop; its index is its place in the content ...
//   event: message_delta
//   data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{...}}
//   event: message_stop
//   data: {"type":"message_stop"}
//
// A failure inside a stream is one `event: error`, at which every SDK throws. No stop reason is made up for the turn that
// failed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "chat/messages_frame.h"
#include "client/protocol.h"

namespace callgate::client {

extern const Protocol kAnthropicMessages;

// Of kAnthropicMessages, and Request::origin of what it decodes.
inline constexpr std::string_view kMessagesName = kMessagesOrigin;

Result<Request> decode_messages(const ClientRequest& request);
std::string messages_error_body(const Error& error);
int messages_status(const Error& error);
std::unique_ptr<ResponseEncoder> make_messages_stream(const Request& request,
                                                      const ResponseIdentity& identity);
std::unique_ptr<ResponseEncoder> make_messages_whole(const Request& request,
                                                     const ResponseIdentity& identity);

}  // namespace callgate::client
