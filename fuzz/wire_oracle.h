// What holds for the upstream bytes of every wire format, put through a whole pipeline: the client gets the same bytes
// however the input is cut; the event grammar holds (the pipeline checks it after every stage); a finished pipeline either
// answered or has an error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "callgate/pipeline.h"

namespace callgate::fuzz {

struct Outcome {
  std::string client;
  bool started = false;
  std::string error;
  RepairCounts repairs{};

  bool operator==(const Outcome&) const = default;
};

// `step` 0: in one push. Else pieces of 1 to `step` bytes.
inline Outcome run(const Request& request, std::string_view wire, std::string_view input,
                   std::uint32_t step) {
  auto pipeline =
      Pipeline::make(request, {.wire = std::string(wire), .response_id = "x", .id_seed = 1});
  CALLGATE_CHECK(pipeline.has_value());
  Outcome outcome;
  std::uint32_t state = step;
  while (!input.empty()) {
    state = state * 1664525u + 1013904223u;
    const std::size_t size = step == 0 ? input.size() : 1 + (state >> 16) % step;
    pipeline->push(input.substr(0, size), outcome.client);
    input.remove_prefix(std::min(size, input.size()));
  }
  pipeline->finish(outcome.client);
  CALLGATE_CHECK(pipeline->finished());
  CALLGATE_CHECK(pipeline->started() || pipeline->error());
  CALLGATE_CHECK(pipeline->started() || outcome.client.empty());
  outcome.started = pipeline->started();
  if (pipeline->error()) outcome.error = pipeline->error()->message;
  outcome.repairs = pipeline->summary().repairs;
  return outcome;
}

// Whole, byte by byte, and in pieces of up to `step` bytes.
inline void check_cuts(const Request& request, std::string_view wire, std::string_view input,
                       std::uint32_t step) {
  const Outcome whole = run(request, wire, input, 0);
  CALLGATE_CHECK(run(request, wire, input, 1) == whole);
  if (step > 1) CALLGATE_CHECK(run(request, wire, input, step) == whole);
}

// An input that is an answer from its first byte on, as the seeds are: how it is asked for and cut comes from its size.
inline void check_answer(std::string_view wire, const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Request request{.model = "m",
                        .choices = (size & 4) != 0 ? 2u : 1u,
                        .stream = (size & 1) != 0,
                        .include_usage = (size & 2) != 0};
  check_cuts(request, wire, input, static_cast<std::uint32_t>(2 + size / 8 % 61));
}

}  // namespace callgate::fuzz
