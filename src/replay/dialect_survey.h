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
#include "replay/explanation.h"

namespace callgate::replay {

inline constexpr std::string_view kAllDialects = "all";

// What one dialect made of the text.
struct Reading {
  std::vector<LoggedCall> calls;  // that it found in the text
  std::size_t text_bytes = 0;     // that it left
};

// What all dialects made of it. First comes the one whose models would have written just that.
struct Survey {
  struct Calls {
    std::string_view dialect;
    std::vector<LoggedCall> calls;
  };
  std::vector<Calls> found;
  std::vector<Explanation::Piece> close;
};

// `read` reads the text in a dialect and reports to the explainer; `said` is that text.
Survey survey_dialects(std::string_view said,
                       const std::function<Reading(const Dialect&, Explainer&)>& read);

// Lines for people, as above.
std::string to_text(const Survey& survey);
// [{"dialect":"hermes","calls":["get_weather"]}]
std::string found_json(const Survey& survey);

}  // namespace callgate::replay
