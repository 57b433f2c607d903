// The `usage` object and the finish words that streamed and whole Chat Completions answers share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "client/protocol.h"

namespace callgate::client {

// The usage of an answer as the upstream told it.
struct ToldUsage {
  std::optional<Usage> counts;
  std::string json;  // its own object, with members that `counts` does not know; may be empty

  void set(const UsageReported& event) {
    counts = event.usage;
    json = event.json;
  }
};

// The counts that were told or, where some had to be estimated, all of them from `end`, marked with "estimated":true. Other
// members are the upstream's. REQUIRES: there are counts in one of the two.
void append_openai_usage(std::string& out, const ToldUsage& told, const AnswerEnd& end);

// The protocol has no word for upstream_error: such a turn ends with an error, not with a reason.
std::string_view openai_finish_word(FinishReason reason, bool legacy);

}  // namespace callgate::client
