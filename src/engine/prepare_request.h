// The request as the upstream gets it, where that is not the request as the client sent it: system prompts left out,
// sampling forced, ids of calls in the form that the upstream insists on, tools written into the prompt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "callgate/request.h"

namespace callgate::engine {

enum class SystemPrompts : std::uint8_t { pass, drop, first };

// The form of call ids that an upstream takes. Ids of that form stay as they are; others are mapped, the call and its
// result alike.
enum class CallIdForm : std::uint8_t {
  any,
  kimi,     // functions.NAME:NUMBER, numbered over the whole conversation
  mistral,  // nine letters and digits
};

struct RequestRules {
  SystemPrompts system = SystemPrompts::pass;
  CallIdForm call_ids = CallIdForm::any;
  std::string
      prompt_dialect;  // not empty: tools, calls and results are written into the prompt in this dialect
  std::vector<ExtraField> params;  // replace what the client said

  // False: the upstream gets the request as it is.
  bool change_anything() const;
};

// The form that models of a dialect insist on.
CallIdForm call_ids_of(std::string_view dialect);

Request prepare_request(const Request& request, const RequestRules& rules);

}  // namespace callgate::engine
