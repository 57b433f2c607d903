// Every dialect tries the same text: which find calls in it, and which come close?
//
//   calls
//     hermes       get_weather
//   close
//     qwen3_coder: opener at byte 0, gave up at byte 12: expected <function=, found '{'
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "chat/event_log.h"
#include "cli/explanation.h"

namespace callgate::cli {

inline constexpr std::string_view kAllDialects = "all";

// What one dialect made of the text.
struct Reading {
  std::vector<LoggedCall> calls;  // that it found in the text
  std::size_t text_bytes = 0;     // that it left
};

// `read` reads the text in a dialect and reports to the explainer; `said` is that text. First comes the dialect whose models
// would have written just that.
std::string survey_dialects(std::string_view said,
                            const std::function<Reading(const Dialect&, Explainer&)>& read);

}  // namespace callgate::cli
