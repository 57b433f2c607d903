#include "loop/history.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "chat/content.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::loop {
namespace {

constexpr std::string_view kInterrupted = "Error: the call was interrupted; it has no result.";

using Messages = std::vector<Message>;

// The ids that are answered before the assistant speaks again.
std::unordered_set<std::string_view> answered_from(Messages::iterator at, Messages::iterator end) {
  std::unordered_set<std::string_view> ids;
  for (; at != end && at->role != Role::assistant; ++at) {
    if (at->role == Role::tool) ids.insert(at->tool_call_id);
  }
  return ids;
}

// Where the legs of a state belong in a history, and which of its messages answer their calls.
class LegPlaces {
 public:
  LegPlaces(const Messages& history, std::span<const State::Leg> legs);

  static constexpr std::size_t kNowhere = std::size_t(-1);
  struct Place {
    std::size_t at = kNowhere;  // the message whose place the leg takes, or before which it goes
    bool replaces = false;
  };
  const Place& of_leg(std::size_t leg) const { return places_[leg]; }
  // The first result at or after `from` that answers the call, each only once.
  std::size_t take_result(std::string_view id, std::size_t from);
  bool is_taken(std::size_t message) const { return taken_[message]; }

 private:
  std::vector<Place> places_;
  std::unordered_map<std::string_view, std::deque<std::size_t>> results_;  // by the call's id
  std::vector<bool> taken_;
};

using ById = std::unordered_map<std::string_view, const Message*>;

ById kept_results(const State::Leg& leg) {
  ById kept;
  for (const Message& result : leg.results) {
    if (result.role == Role::tool) kept.emplace(result.tool_call_id, &result);
  }
  return kept;
}

LegPlaces::LegPlaces(const Messages& history, std::span<const State::Leg> legs)
    : places_(legs.size()), taken_(history.size()) {
  std::unordered_map<std::string_view, std::size_t> of_call;         // a leg, by the calls in it
  std::unordered_map<std::string_view, std::size_t> of_client_call;  // those that the client knows
  for (std::size_t i = 0; i < legs.size(); ++i) {
    if (legs[i].messages.empty()) continue;
    const ById kept = kept_results(legs[i]);
    for (const CallRecord& call : legs[i].messages.back().calls) {
      of_call.emplace(call.id, i);
      if (!kept.contains(call.id)) of_client_call.emplace(call.id, i);
    }
  }
  std::vector<std::size_t> first_result(legs.size(), kNowhere);
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Message& message = history[i];
    if (message.role == Role::tool) {
      results_[message.tool_call_id].push_back(i);
      const auto leg = of_call.find(message.tool_call_id);
      if (leg != of_call.end() && first_result[leg->second] == kNowhere) {
        first_result[leg->second] = i;
      }
    } else if (message.role == Role::assistant) {
      for (const CallRecord& call : message.calls) {
        const auto leg = of_client_call.find(call.id);
        if (leg == of_client_call.end() || places_[leg->second].replaces) continue;
        places_[leg->second] = {i, true};
      }
    }
  }
  for (std::size_t i = 0; i < legs.size(); ++i) {
    if (!places_[i].replaces) places_[i].at = first_result[i];
  }
}

std::size_t LegPlaces::take_result(std::string_view id, std::size_t from) {
  const auto found = results_.find(id);
  if (found == results_.end()) return kNowhere;
  std::deque<std::size_t>& messages = found->second;
  while (!messages.empty() && messages.front() < from) messages.pop_front();
  if (messages.empty()) return kNowhere;
  const std::size_t first = messages.front();
  messages.pop_front();
  taken_[first] = true;
  return first;
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

void restore_legs(Messages& history, std::span<const State::Leg> legs) {
  LegPlaces places(history, legs);
  std::unordered_map<std::size_t, Messages> restored;  // by place
  std::unordered_set<std::size_t> replaced;
  for (std::size_t i = 0; i < legs.size(); ++i) {
    const auto [at, replaces] = places.of_leg(i);
    if (at == LegPlaces::kNowhere) continue;  // the client went on without answering
    if (replaces) replaced.insert(at);
    Messages& here = restored[at];
    here.insert(here.end(), legs[i].messages.begin(), legs[i].messages.end());
    const ById kept = kept_results(legs[i]);
    for (const CallRecord& call : legs[i].messages.back().calls) {
      if (const auto own = kept.find(call.id); own != kept.end()) {
        here.push_back(*own->second);
        continue;
      }
      const std::size_t given = places.take_result(call.id, at);
      here.push_back(given == LegPlaces::kNowhere ? tool_message(call.id, kInterrupted)
                                                  : history[given]);
    }
  }
  Messages whole;
  whole.reserve(history.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (const auto here = restored.find(i); here != restored.end()) {
      std::move(here->second.begin(), here->second.end(), std::back_inserter(whole));
    }
    if (!replaced.contains(i) && !places.is_taken(i)) whole.push_back(std::move(history[i]));
  }
  history = std::move(whole);
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
