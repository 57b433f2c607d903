#include "dial/codex_conversation.h"

#include <algorithm>

#include "session/session_id.h"

namespace callgate::server {

using State = Conversation::State;

bool Conversation::announce(const std::string& call) {
  if (!announced.insert(call).second) return false;
  called.push_back(call);
  return true;
}

Conversation& ConversationBook::add(std::string thread) {
  list_.push_back(std::make_unique<Conversation>());
  list_.back()->thread = std::move(thread);
  list_.back()->session = mint_session(mint_);
  return *list_.back();
}

void ConversationBook::remove(const Conversation& conversation) {
  std::erase_if(list_, [&](const auto& each) { return each.get() == &conversation; });
}

Conversation* ConversationBook::find(std::string_view thread) {
  for (const auto& each : list_) {
    if (each->thread == thread) return each.get();
  }
  return nullptr;
}

Conversation* ConversationBook::find(const std::shared_ptr<AnswerLane>& listener) {
  for (const auto& each : list_) {
    if (each->lane == listener) return each.get();
  }
  return nullptr;
}

bool ConversationBook::goes_on(const Conversation& conversation, const ChildPrompt& prompt) const {
  if (conversation.history != prompt.before) return false;
  switch (prompt.follows) {
    case ChildPrompt::Follows::nothing:
      return false;
    case ChildPrompt::Follows::answer:
      return conversation.state == State::idle &&
             words_of(conversation.said, key_) == prompt.answer;
    case ChildPrompt::Follows::calls:
      break;
  }
  const std::vector<std::string>& called = conversation.called;
  return conversation.state == State::parked &&
         std::all_of(prompt.called.begin(), prompt.called.end(), [&](const std::string& id) {
           return std::find(called.begin(), called.end(), id) != called.end();
         });
}

Conversation* ConversationBook::find_known(const ChildPrompt& prompt) {
  for (const auto& each : list_) {
    if (goes_on(*each, prompt)) return each.get();
  }
  return nullptr;
}

Conversation* ConversationBook::find_oldest_quiet() {
  Conversation* oldest = nullptr;
  for (const auto& each : list_) {
    const bool idle = each->state == State::idle;
    if (!idle && each->state != State::parked) continue;
    if (oldest == nullptr) {
      oldest = each.get();
    } else if (idle != (oldest->state == State::idle)) {
      if (idle) oldest = each.get();
    } else if (each->since < oldest->since) {
      oldest = each.get();
    }
  }
  return oldest;
}

Conversation* ConversationBook::find_expired(std::uint64_t now, const UpstreamConfig& limits) {
  for (const auto& each : list_) {
    const Milliseconds age(now - each->since);
    if ((each->state == State::parked && age > limits.call_timeout) ||
        (each->state == State::idle && age > limits.conversation_timeout)) {
      return each.get();
    }
  }
  return nullptr;
}

void ConversationBook::fail_all(const Error& why) {
  for (const auto& each : list_) {
    if (each->lane != nullptr) each->lane->fail(why);
  }
}

}  // namespace callgate::server
