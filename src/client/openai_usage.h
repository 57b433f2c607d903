// The `usage` object and the finish words that streamed and whole Chat Completions answers share.
#pragma once

#include <string>
#include <string_view>

#include "callgate/event.h"

namespace callgate::client {

void append_openai_usage(std::string& out, const Usage& usage);

// The protocol has no word for upstream_error: such a turn ends with an error, not with a reason.
std::string_view openai_finish_word(FinishReason reason, bool legacy);

// JSON from elsewhere, on one line: line breaks can only stand between its values.
void append_json_line(std::string& out, std::string_view json);

}  // namespace callgate::client
