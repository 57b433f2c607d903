// The request as the upstream gets it, where that is not the request as the client sent it: system prompts left out,
// sampling forced, ids of calls in the form that the upstream insists on, tools written into the prompt, or calls left in
// the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  std::vector<ExtraField> params;     // replace what the client said
  bool strip_replayed_calls = false;  // chat/replayed_calls.h
  std::vector<std::string> scrub;     // members that are left out, chat/scrubbed.h

  // False: the upstream gets the request as it is.
  bool change_anything() const;
};

// How an upstream is asked to show its model the tools, and yet to leave calls in the text as the model wrote them. Servers
// differ in what they do with `tool_choice`.
struct TextTools {
  bool choose_none = false;          // say `tool_choice: "none"`; false: leave the field out
  bool keep_special_tokens = false;  // `skip_special_tokens: false`: markers may be special tokens
};

// The form that models of a dialect insist on.
CallIdForm call_ids_of(std::string_view dialect);

// `text`: not to be given together with `rules.prompt_dialect`.
Request prepare_request(const Request& request, const RequestRules& rules,
                        const std::optional<TextTools>& text = std::nullopt);

}  // namespace callgate::engine
