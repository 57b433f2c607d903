// Answers of the Qwen web chat through a whole pipeline. Oracle: the client gets the same bytes however the input is cut; the event
// grammar holds (the pipeline checks it after every stage); a finished pipeline either answered or has an error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "callgate/pipeline.h"
#include "upstream/qwen_web.h"

namespace {

using namespace callgate;

struct Outcome {
  std::string client;
  bool started = false;
  std::string error;
  RepairCounts repairs{};

  bool operator==(const Outcome&) const = default;
};

// `step` 0: in one push. Else pieces of 1 to `step` bytes.
Outcome run(const Request& request, std::string_view input, std::uint8_t step) {
  auto pipeline = Pipeline::make(request, {.wire = "qwen_web", .response_id = "x", .id_seed = 1});
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

// The readers beside the decoder must not fall over either.
void read_aside(std::string_view input) {
  static_cast<void>(upstream::decode_qwen_web_created(input));
  const auto chat = upstream::decode_qwen_web_chat(200, input);
  CALLGATE_CHECK(chat ? !chat->empty() : !chat.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t flags = data[0];
  const std::uint8_t step = data[1];
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const callgate::Request request{.model = "m",
                                  .choices = (flags & 1) != 0 ? 2u : 1u,
                                  .stream = (flags & 2) != 0,
                                  .include_usage = (flags & 4) != 0};
  read_aside(input);
  const Outcome whole = run(request, input, 0);
  CALLGATE_CHECK(run(request, input, 1) == whole);
  if (step > 1) CALLGATE_CHECK(run(request, input, step) == whole);
  return 0;
}
