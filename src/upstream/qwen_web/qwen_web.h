// The wire format of the Qwen web chat (chat.qwen.ai, v2), which keeps each conversation as a tree of messages: a message
// names the answer that it follows, and the upstream knows all that came before.
//
//   POST /chats/new {"title":"...","models":["qwen3-max"],"chat_mode":"guest","chat_type":"t2t","timestamp":1762300000000}
//     {"success":true,"request_id":"...","data":{"id":"CHAT"}}
//   POST /chat/completions?chat_id=CHAT {"stream":true,"incremental_output":true,"chat_id":"CHAT","parent_id":null,...}
//     data: {"response.created":{"chat_id":"CHAT","parent_id":"QUESTION","response_id":"ANSWER"}}
//     data: {"choices":[{"delta":{"role":"assistant","content":"Hi","phase":"answer","status":"typing"}}],
//       "usage":{"input_tokens":33,"output_tokens":1,"total_tokens":34}}
//     data: {"choices":[{"delta":{"role":"assistant","content":"","phase":"answer","status":"finished"}}]}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// encode() gives the whole conversation as the first message of a chat, without the id of a chat. Callers that keep
// conversations use encode_qwen_web_post().
extern const WireFormat kQwenWeb;

std::span<const RequestField> qwen_web_fields();

// Where a message goes.
struct QwenWebPlace {
  std::string_view chat_id;
  std::string_view parent_id;   // empty: the first message of its chat
  std::string_view message_id;  // a UUID
  std::int64_t timestamp = 0;   // seconds since 1970
};

UpstreamRequest encode_qwen_web_chat(const EncodeOptions& options, std::int64_t unix_ms);
// The id of a new chat, or what is wrong with the answer.
Result<std::string> decode_qwen_web_chat(int status, std::string_view body);

// `content` is what the message says; everything else comes from the request. `dropped` is not filled in.
UpstreamRequest encode_qwen_web_post(const Request& request, const EncodeOptions& options,
                                     const QwenWebPlace& place, std::string_view content);

// What the frame `response.created` says about an answer. Empty fields were not given.
struct QwenWebCreated {
  std::string parent_id;    // the id of the message that is answered
  std::string response_id;  // of the answer
};
std::optional<QwenWebCreated> decode_qwen_web_created(std::string_view frame);

}  // namespace callgate::upstream
