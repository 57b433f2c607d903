// One line of `codex proto` or of `codex app-server`, which speaks JSON-RPC without the `jsonrpc` member.
//
//   {"id":"1","msg":{"type":"agent_message_delta","delta":"Hel"}}
//   {"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"i","delta":"Hel"}}
//   {"id":1,"result":{"thread":{"id":"t"}}}     {"method":"item/tool/call","id":0,"params":{...}}
#pragma once

#include <string>
#include <string_view>

#include "json/reader.h"
#include "upstream/openai_chat/openai_answer.h"

namespace callgate::upstream {

struct CodexLine {
  std::string method;       // of a notification or a request
  std::string_view id;      // as JSON; empty when there is none
  std::string_view params;  // as JSON; empty when there is none
  std::string_view msg;     // of proto
  std::string_view result;  // of an answer
  std::string_view error;   // of an answer that is a failure
  Text delta;               // in `params`, once it has been looked for
};

// False when the line is not a JSON object. Views are into `text`.
bool read_codex_line(std::string_view text, json::Reader& reader, CodexLine& line);

// The member of an object as text: a string unescaped, anything else as JSON. Empty when it is not there, or null.
std::string any_member_text(std::string_view object, std::string_view name);

}  // namespace callgate::upstream
