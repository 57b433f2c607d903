#include "loop/round.h"

#include <utility>

#include "base/check.h"
#include "json/writer.h"
#include "loop/history.h"

namespace callgate::loop {

void CallBook::add(const Call& call) {
  ++calls_;
  if (call.for_client) ++client_calls_;
}

void CallBook::change(Call& call, std::size_t index, Call::Status status) {
  count(call, index, false);
  call.status = status;
  count(call, index, true);
  if (call.run != 0) runs_.emplace(call.run, index);
}

void CallBook::count(const Call& call, std::size_t index, bool in) {
  const auto note = [&](auto& set, const auto& entry) {
    if (in) {
      set.insert(entry);
    } else {
      set.erase(entry);
    }
  };
  const std::size_t one = in ? 1 : std::size_t(-1);
  if (call.status == Call::Status::ready) note(ready_, index);
  if (call.status == Call::Status::approval) note(approvals_, index);
  if (call.has_deadline()) note(timed_, std::pair(call.deadline, index));
  if (call.status == Call::Status::settled && call.direct) direct_calls_ += one;
  if (call.status != Call::Status::running) return;
  running_ += one;
  if (call.exclusive) exclusive_ += one;
}

const std::size_t* CallBook::find(RunId run) const {
  const auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : &found->second;
}

Call& Round::add(Call call) {
  book.add(call);
  bytes += sizeof(Call) + call.id.size() + call.name.size();
  return calls.emplace_back(std::move(call));
}

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

bool Round::empty() const {
  return calls.empty() && !refused && text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace callgate::loop
