// The anatomy of a turn: which bytes of the upstream became which events, and those which bytes for the client; what was held
// back, what was mended and why markup stayed text, each where it happened. It is found out afterwards, by sending the bytes
// through the pipeline again, so that turns pay nothing for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/pipeline.h"
#include "chat/event_log.h"
#include "replay/replay_case.h"

namespace callgate::replay {

struct AnatomyEvent {
  LoggedEvent event;
  std::uint32_t choice = 0;
  bool in_text = false;  // a call that the dialect found in the text
};

// A frame of the upstream, or another thing that happened to the turn. Steps cover the upstream's bytes without gaps.
struct AnatomyStep {
  std::string_view what;    // frame, closed, cut, released or failed; static text
  std::uint64_t begin = 0;  // of the upstream's bytes
  std::uint64_t end = 0;
  std::int64_t time_us = 0;  // when the last of them came
  std::vector<AnatomyEvent> events;
  std::uint64_t client_end = 0;  // of the client's bytes: what is there after this step
  std::uint64_t held_back = 0;   // bytes that wait after this step
};

// Something worth knowing at a place.
struct AnatomyPin {
  enum class Kind : std::uint8_t { repair, stayed_text, policy, error };
  Kind kind = Kind::repair;
  std::string name;  // of the repair, the policy or the dialect, or the code of the error
  std::string text;  // in words; may be empty
  std::size_t step = 0;
  std::uint64_t begin = 0;  // of the upstream's bytes
  std::uint64_t end = 0;    // where the dialect gave up; else as `begin`
};

struct Anatomy {
  std::string upstream;
  std::string client;
  std::vector<AnatomyStep> steps;
  std::vector<AnatomyPin> pins;  // in the order of their steps
  TurnSummary summary;
  std::optional<Error> error;
};

// `split` cuts the upstream's bytes anew; nothing: a step for each frame.
Anatomy dissect(const ReplayCase& input, const std::optional<Split>& split = std::nullopt);

// The members of a JSON object; docs/inspector.md lists them. Bytes are in base64, since they need not be text.
void append_json(std::string& out, const Anatomy& anatomy);

}  // namespace callgate::replay
