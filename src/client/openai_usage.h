// The `usage` object and the finish words that streamed and whole Chat Completions answers share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "client/protocol.h"

namespace callgate::client {

// `usage` is what the upstream told; without it the estimate is written, marked with "estimated":true. REQUIRES: one of
// the two is there.
void append_openai_usage(std::string& out, const std::optional<Usage>& usage, const AnswerEnd& end);

// The protocol has no word for upstream_error: such a turn ends with an error, not with a reason.
std::string_view openai_finish_word(FinishReason reason, bool legacy);

// JSON from elsewhere, on one line: line breaks can only stand between its values.
void append_json_line(std::string& out, std::string_view json);

}  // namespace callgate::client
