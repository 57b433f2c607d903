#include "loop/round.h"

#include <algorithm>

#include "base/check.h"
#include "json/writer.h"
#include "loop/history.h"

namespace callgate::loop {

Message Round::message() const {
  Message message{.role = Role::assistant};
  if (text.empty()) {
    message.content.text = "null";
  } else {
    json::append_string(message.content.text, text);
  }
  for (const Call& call : calls) {
    if (call.status == Call::Status::writing) continue;
    CallRecord& record = message.calls.emplace_back(
        CallRecord{call.id, call.name, history_arguments(call.arguments), {}});
    call.fields.each([&](std::string_view name, std::string_view json) {
      record.extra.push_back({std::string(name), {std::string(json)}});
    });
  }
  if (!details.empty()) {
    message.extra.push_back({"reasoning_details", {"[" + details + "]"}});
  } else if (return_reasoning && !reasoning.empty() && !message.calls.empty()) {
    // Models that think between their calls want their thoughts back until the answer is there.
    std::string thoughts;
    json::append_string(thoughts, reasoning);
    message.extra.push_back({"reasoning_content", {std::move(thoughts)}});
  }
  return message;
}

std::vector<Message> Round::results() const {
  std::vector<Message> messages;
  for (const Call& call : calls) {
    if (call.for_client || call.status == Call::Status::writing) continue;
    CALLGATE_CHECK(call.status == Call::Status::settled);
    messages.push_back(tool_message(call.id, call.result));
  }
  return messages;
}

bool Round::has_client_calls() const {
  return std::any_of(calls.begin(), calls.end(), [](const Call& call) { return call.for_client; });
}

bool Round::has_server_calls() const {
  return std::any_of(calls.begin(), calls.end(), [](const Call& call) { return !call.for_client; });
}

bool Round::waits() const {
  return std::any_of(calls.begin(), calls.end(), [](const Call& call) { return call.waits(); });
}

bool Round::all_direct() const {
  return std::all_of(calls.begin(), calls.end(), [](const Call& call) { return call.direct; });
}

bool Round::empty() const {
  return calls.empty() && !refused && text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace callgate::loop
