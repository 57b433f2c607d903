// Lines of codex, both protocols, through a whole pipeline. Oracle: as in openai_chat_fuzz.cpp.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "callgate/pipeline.h"

namespace {

using namespace callgate;

struct Outcome {
  std::string client;
  bool started = false;
  std::string error;
  RepairCounts repairs{};

  bool operator==(const Outcome&) const = default;
};

// `step` 0: in one push. Else pieces of `step` bytes.
Outcome run(const Request& request, std::string_view wire, std::string_view input,
            std::size_t step) {
  auto pipeline =
      Pipeline::make(request, {.wire = std::string(wire), .response_id = "x", .id_seed = 1});
  CALLGATE_CHECK(pipeline.has_value());
  Outcome outcome;
  while (!input.empty()) {
    const std::size_t size = step == 0 ? input.size() : std::min(step, input.size());
    pipeline->push(input.substr(0, size), outcome.client);
    input.remove_prefix(size);
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t flags = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  Request request{.model = "m", .stream = (flags & 1) != 0, .include_usage = (flags & 2) != 0};
  request.tools.push_back({.name = "find"});
  const std::string_view wire = (flags & 4) != 0 ? "codex_proto" : "codex_app_server";
  const Outcome whole = run(request, wire, input, 0);
  CALLGATE_CHECK(run(request, wire, input, 1) == whole);
  CALLGATE_CHECK(run(request, wire, input, 2u + data[1]) == whole);
  return 0;
}
