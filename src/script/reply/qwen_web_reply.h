// The scripted model as the Qwen web chat: a sample is in upstream/qwen_web/qwen_web.h. The format has no calls of the client's
// tools; calls that could not be written as text are told as those of a built-in tool.
#pragma once

#include <string>
#include <string_view>

#include "script/reply/reply_encoder.h"

namespace callgate::script {

extern const ReplyFormat kQwenWebReply;

// One message of the user, as the wire has it.
struct QwenWebPost {
  std::string chat_id;
  std::string parent_id;  // empty: null
  std::string model;
  std::string content;
  bool stream = false;
  bool thinking = false;
};
Result<QwenWebPost> read_qwen_web_post(std::string_view body);

// `{"success":false,...}` with that code, such as Not_Found.
std::string qwen_web_error_body(std::string_view code, std::string_view details);

}  // namespace callgate::script
