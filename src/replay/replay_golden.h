// Makes a golden case of a replayed turn: the files of golden/wire/<format>/<case>.*, with the fixed ids and times that
// golden cases have, and of the request only what shapes the answer.
#pragma once

#include <string>
#include <vector>

#include "replay/replay_case.h"

namespace callgate::replay {

struct GoldenFile {
  std::string suffix;  // `.sse`, `.request.json`, ...
  std::string text;
};

// What of a request shapes its answer, as Chat Completions JSON: model, tools, choices, usage. The conversation is private, and the
// answer does not depend on it.
std::string shape_of(const Request& request, bool stream);

// Fails when the upstream had no answer that a pipeline could read.
Result<std::vector<GoldenFile>> to_golden(const ReplayCase& input);

}  // namespace callgate::replay
