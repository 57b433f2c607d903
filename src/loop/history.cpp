#include "loop/history.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "chat/content.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::loop {
namespace {

constexpr std::string_view kInterrupted = "Error: the call was interrupted; it has no result.";

using Messages = std::vector<Message>;

bool answers(const Message& message, std::string_view id) {
  return message.role == Role::tool && message.tool_call_id == id;
}

// The ids that are answered before the assistant speaks again.
std::unordered_set<std::string_view> answered_from(Messages::iterator at, Messages::iterator end) {
  std::unordered_set<std::string_view> ids;
  for (; at != end && at->role != Role::assistant; ++at) {
    if (at->role == Role::tool) ids.insert(at->tool_call_id);
  }
  return ids;
}

bool has_call(const Message& message, std::string_view id) {
  return std::any_of(message.calls.begin(), message.calls.end(),
                     [&](const CallRecord& call) { return call.id == id; });
}

const Message* kept_result(const State::Leg& leg, std::string_view id) {
  const auto found = std::find_if(leg.results.begin(), leg.results.end(),
                                  [&](const Message& result) { return answers(result, id); });
  return found == leg.results.end() ? nullptr : &*found;
}

// The message with one of the client's calls of that leg.
Messages::iterator find_leg(Messages& history, const State::Leg& leg) {
  return std::find_if(history.begin(), history.end(), [&](const Message& message) {
    const auto& calls = leg.messages.back().calls;
    return message.role == Role::assistant &&
           std::any_of(calls.begin(), calls.end(), [&](const CallRecord& call) {
             return kept_result(leg, call.id) == nullptr && has_call(message, call.id);
           });
  });
}

Messages::iterator first_result(Messages& history, const State::Leg& leg) {
  return std::find_if(history.begin(), history.end(), [&](const Message& message) {
    return message.role == Role::tool && has_call(leg.messages.back(), message.tool_call_id);
  });
}

}  // namespace

Message text_message(Role role, std::string_view text) {
  return {.role = role, .content = text_content(text)};
}

Message tool_message(std::string_view call_id, std::string_view text) {
  Message message = text_message(Role::tool, text);
  message.tool_call_id = call_id;
  return message;
}

void restore_leg(Messages& history, const State::Leg& leg) {
  if (leg.messages.empty()) return;
  auto at = find_leg(history, leg);
  const bool known = at != history.end();
  if (!known) at = first_result(history, leg);
  if (at == history.end()) return;  // the client went on without answering

  Messages restored = leg.messages;
  Messages rest(std::make_move_iterator(known ? std::next(at) : at),
                std::make_move_iterator(history.end()));
  history.erase(at, history.end());
  for (const CallRecord& call : leg.messages.back().calls) {
    if (const Message* kept = kept_result(leg, call.id)) {
      restored.push_back(*kept);
      continue;
    }
    const auto given = std::find_if(rest.begin(), rest.end(),
                                    [&](const Message& m) { return answers(m, call.id); });
    if (given == rest.end()) {
      restored.push_back(tool_message(call.id, kInterrupted));
    } else {
      restored.push_back(std::move(*given));
      rest.erase(given);
    }
  }
  std::move(restored.begin(), restored.end(), std::back_inserter(history));
  std::move(rest.begin(), rest.end(), std::back_inserter(history));
}

void repair_calls(Messages& history) {
  Messages repaired;
  repaired.reserve(history.size());
  for (auto it = history.begin(); it != history.end();) {
    Message& message = *it++;
    Messages missing;
    if (!message.calls.empty()) {
      const auto answered = answered_from(it, history.end());
      for (const CallRecord& call : message.calls) {
        if (!answered.contains(call.id)) missing.push_back(tool_message(call.id, kInterrupted));
      }
    }
    repaired.push_back(std::move(message));
    if (missing.empty()) continue;
    while (it != history.end() && it->role == Role::tool) repaired.push_back(std::move(*it++));
    std::move(missing.begin(), missing.end(), std::back_inserter(repaired));
  }
  history = std::move(repaired);
}

Messages last_user_messages(const Messages& history) {
  auto end = history.end();
  while (end != history.begin() && std::prev(end)->role != Role::user) --end;
  auto begin = end;
  while (begin != history.begin() && std::prev(begin)->role == Role::user) --begin;
  return Messages(begin, end);
}

Messages all_user_messages(const Messages& history) {
  Messages said;
  std::copy_if(history.begin(), history.end(), std::back_inserter(said),
               [](const Message& message) { return message.role == Role::user; });
  return said;
}

std::string history_arguments(std::string_view arguments) {
  json::Reader in(arguments);
  if (in.peek() == json::Kind::object) {
    in.skip();
    if (in.finish()) return std::string(arguments);
  }
  std::string object;
  json::ObjectWriter writer(object);
  writer.string("raw", arguments);
  writer.close();
  return object;
}

}  // namespace callgate::loop
