#include "dial/call_habits.h"

namespace callgate::server {
namespace {

bool is_auto(const Dialect* dialect) { return dialect != nullptr && dialect->name == "auto"; }

}  // namespace

bool may_write_calls(const Dialect* dialect, const CallHabits& habits, std::string_view upstream,
                     std::string_view model, bool as_text) {
  return !is_auto(dialect) || as_text || !habits.structured.has(upstream, model);
}

void learn_calls(const Dialect* dialect, const TurnSummary& summary, std::string_view upstream,
                 std::string_view model, CallHabits& habits, telemetry::Logger& log) {
  if (!is_auto(dialect)) return;
  if (summary.structured_calls) habits.structured.add(upstream, model);
  if (summary.settled_on.empty() || habits.written.has({}, model)) return;
  if (!habits.written.add({}, model)) return;
  log.warning(
      "a tool call was read from the model's text; to settle what the model writes, add one of "
      "these lines to its [[model]]: `dialect = \"" +
          std::string(summary.settled_on) +
          "\"` if it writes its calls so, `dialect = \"native\"` if its text never is a call",
      {{"upstream", upstream}, {"model", model}, {"dialect", summary.settled_on}});
}

}  // namespace callgate::server
