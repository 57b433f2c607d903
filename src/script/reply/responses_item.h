// The JSON of a Responses answer: output items, and the response around them.
//
//   {"id":"fc_2","type":"function_call","status":"completed","call_id":"call_1","name":"find","arguments":"{}"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "script/fault.h"
#include "script/reply/reply_encoder.h"

namespace callgate::script {

struct ReplyItem {
  enum class Kind : std::uint8_t { message, refusal, reasoning, call };
  Kind kind = Kind::message;
  std::uint32_t index = 0;
  std::string id;       // such as msg_0
  std::string call_id;  // of a call
  std::string name;     // of a call
  std::string text;     // all that it said so far, or the arguments
};

std::string_view prefix_of(ReplyItem::Kind kind);

// As it is when it starts, and as it is when it is done.
std::string started_item(const ReplyItem& item, const Faults& faults);
std::string finished_item(const ReplyItem& item, const Faults& faults);
// {"type":"output_text","annotations":[],"logprobs":[],"text":"Hi"}
std::string part_of(const ReplyItem& item, std::string_view text);

struct ReplyState {
  std::string_view status = "in_progress";
  std::string_view output;  // items with commas between them
  std::string_view incomplete;
  std::string_view error;        // JSON
  const Usage* usage = nullptr;  // not said when it is nullptr
};
std::string response_object(const ReplyIdentity& identity, const ReplyState& state);

}  // namespace callgate::script
