// A golden case of a wire format: an upstream's answer, and what every protocol makes of it. Ids and times are fixed, so
// that the same bytes come out on every machine. Shared by the tests, which run cases, and by `callgate replay --golden`,
// which writes them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "callgate/pipeline.h"
#include "callgate/request.h"

namespace callgate::engine {

// The client's request of a case that has none of its own, as openai_chat.
std::string_view usual_golden_request();

// What a case runs with, before the lines of its `.policy` file.
PipelineOptions golden_options(std::string_view wire, std::string_view protocol);
// A line of a `.policy` file: a policy, or dialect, dialect_is_default, commit or reasoning_open. False when the name or
// the value is not known.
bool set_golden_option(PipelineOptions& options, std::string_view name, std::string_view value);

struct GoldenAnswer {
  std::string bytes;  // an answer that is a status and not a stream: `status 502` and its body
  std::string summary;

  bool operator==(const GoldenAnswer&) const = default;
};
// Pushes `input` cut at `cuts`, which count up. REQUIRES: wire format and protocol exist.
GoldenAnswer run_golden(const Request& request, const PipelineOptions& options,
                        std::string_view input, std::span<const std::size_t> cuts = {});

// Finish reason, calls and repairs, a line each; what is zero is left out:
//   finish tool_calls
//   calls 1
//   repair id_missing 1
std::string print_summary(const TurnSummary& summary);

}  // namespace callgate::engine
