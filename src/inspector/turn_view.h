// What the page shows of one turn: its anatomy, its attempts, what passed in both directions. From a recording, on a thread
// that may take its time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "front/desk.h"
#include "recorder/capture_writer.h"

namespace callgate::server {

// The recording of a turn that runs or ran recently; empty if it was not recorded.
net::Task<std::optional<CaptureJob>> find_recording(Desk& desk, std::string request,
                                                    std::string key);

// The JSON of GET /v1/live/ID. Secrets are masked.
std::string print_turn(CaptureJob job, const dialect::Catalog* dialects = nullptr);

Error no_recording(std::string_view request);

}  // namespace callgate::server
