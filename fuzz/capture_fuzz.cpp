// Capture files are read, printed and replayed. Oracle: what was read prints to a file that reads to the same file; a
// masked record shows no secret; a turn that replays gives the same client bytes each time, and the steps
// of its anatomy cover what the upstream sent.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "capture/capture_format.h"
#include "capture/capture_mask.h"
#include "replay/anatomy.h"
#include "replay/replay_case.h"

namespace {

using namespace callgate;

constexpr std::string_view kSecret = "secret";

void check_mask(server::CaptureRecord record) {
  mask_secrets(record, {std::string(kSecret)});
  std::string joined[4];
  for (const server::CaptureLine& line : record.lines) {
    if (line.kind != server::CaptureLine::Kind::bytes) continue;
    joined[static_cast<std::size_t>(line.direction)] += line.bytes;
  }
  for (const std::string& bytes : joined) {
    CALLGATE_CHECK(bytes.find(kSecret) == std::string::npos);
  }
}

void check_anatomy(const replay::ReplayCase& turn) {
  const replay::Anatomy anatomy = replay::dissect(turn);
  CALLGATE_CHECK(anatomy.upstream == upstream_bytes(turn));
  std::uint64_t at = 0;
  for (const replay::AnatomyStep& step : anatomy.steps) {
    CALLGATE_CHECK(step.begin == at && step.end >= at);
    at = step.end;
  }
  CALLGATE_CHECK(at == anatomy.upstream.size());
  for (const replay::AnatomyPin& pin : anatomy.pins) {
    CALLGATE_CHECK(pin.step < anatomy.steps.size());
    CALLGATE_CHECK(pin.begin <= at && pin.end <= at);
  }
  std::string json;
  append_json(json, anatomy);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record =
      server::read_capture(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!record) return 0;
  const std::string printed = print_capture(*record);
  const auto again = server::read_capture(printed);
  CALLGATE_CHECK(again.has_value());
  CALLGATE_CHECK(print_capture(*again) == printed);
  check_mask(*record);
  const auto turn = replay::to_replay_case(*record);
  if (!turn) return 0;
  const replay::Replayed first = run_replay(*turn, std::nullopt);
  CALLGATE_CHECK(run_replay(*turn, std::nullopt).client == first.client);
  check_anatomy(*turn);
  return 0;
}
