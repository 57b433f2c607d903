// The conversation as the model gets it: no call without its result, no id twice, and the rounds that the client never
// saw in the place of the message that it knows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"

namespace callgate::loop {

Message tool_message(std::string_view call_id, std::string_view text);
Message text_message(Role role, std::string_view text);

// Puts each leg where the client's own version of it stands, its results in the order of the calls. Where a client sends only
// results, the leg goes in front of them.
void restore_legs(std::vector<Message>& history, std::span<const State::Leg> legs);

// Calls that nothing answers get a result which says so.
void repair_calls(std::vector<Message>& history);

// The user's words that the answer is for: the last messages of the user.
std::vector<Message> last_user_messages(const std::vector<Message>& history);

// All of them.
std::vector<Message> all_user_messages(const std::vector<Message>& history);

// Arguments as history may hold them: what is not JSON is put into an object.
std::string history_arguments(std::string_view arguments);

}  // namespace callgate::loop
