// Reports members of a Chat Completions answer that callgate does not know.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/event.h"
#include "upstream/openai_chat/openai_answer.h"

namespace callgate::upstream {

// Members of an answer that callgate writes itself, and padding that hides the length of frames.
bool is_envelope_member(std::string_view name);

// Members beside `choices`. Servers repeat them in every frame: only a new value is reported.
class TurnMembers {
 public:
  void report(const OtherMembers& others, EventSink& sink);

 private:
  std::vector<std::pair<std::string, std::string>> last_;
};

// Servers that stream send empty lists and texts with every delta, which say nothing; a `whole` answer keeps them.
void report_others(FieldReported::Scope scope, const OtherMembers& others, bool whole,
                   EventSink& sink);

}  // namespace callgate::upstream
