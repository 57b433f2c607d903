// Pieces of a Messages answer that streams and whole answers share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "chat/event_log.h"
#include "script/fault.h"
#include "script/reply/reply_encoder.h"

namespace callgate::script {

// end_turn, tool_use, max_tokens, refusal
std::string_view stop_reason_of(FinishReason reason);

// What stands for a signature of that thinking: the same text has the same one.
std::string signature_of(std::string_view thinking);

// Counts in the API's sense: what was read from the cache or written to it is counted apart.
void append_anthropic_usage(std::string& out, const Usage& usage, std::int64_t output);

// {"id":"msg_1","type":"message","role":"assistant",...} with that content, a JSON array.
struct AnthropicMessage {
  std::string_view content = "[]";
  std::string stop_reason;  // JSON
  std::string_view refusal;
  Usage usage;
  std::int64_t output = 0;
};
void append_anthropic_message(std::string& out, const ReplyIdentity& identity,
                              const AnthropicMessage& message);

// The blocks of a whole answer, a JSON array.
std::string anthropic_content(const EventLog& log, const Faults& faults);

// null, or {"type":"refusal",...}
std::string stop_details(std::string_view refusal);

// {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_scripted"}
std::string anthropic_error(int status, std::string_view message);

}  // namespace callgate::script
