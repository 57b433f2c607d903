// How the calls of a model arrive, learned from its turns while a configuration is in force: an upstream that reports
// calls as such is taken for native, so that text of its models is not searched for calls any more. Reasoning is still found.
#pragma once

#include <string_view>

#include "callgate/pipeline.h"
#include "dial/learned_pairs.h"
#include "telemetry/log.h"

namespace callgate::server {

struct CallHabits {
  LearnedPairs structured;  // an upstream reported a call of the model
  LearnedPairs written;     // `auto` read a call of the model from text, and the log said so
};

// Whether text of the model from this upstream may hold calls. Only `auto` gives way to what was learned.
// `as_text`: the upstream was asked to leave calls in the text.
bool may_write_calls(const Dialect* dialect, const CallHabits& habits, std::string_view upstream,
                     std::string_view model, bool as_text);

// Learns from a turn that `dialect` read. The first call that `auto` reads from a model's text is logged, with the
// lines of configuration that settle what the model writes.
void learn_calls(const Dialect* dialect, const TurnSummary& summary, std::string_view upstream,
                 std::string_view model, CallHabits& habits, telemetry::Logger& log);

}  // namespace callgate::server
