// What the faults do to the frames of one wire format. The frames themselves are the client protocol's: the same encoder that
// answers clients writes what a scripted model says, and a table per format says which member a fault changes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"
#include "client/protocol.h"
#include "script/fault.h"

namespace callgate::script {

struct WireFrame {
  std::string data;
  std::string event = {};  // its name, where the protocol names them
};
using WireFrames = std::vector<WireFrame>;

enum class FrameKind : std::uint8_t {
  other,
  delta,   // text, reasoning or a piece of a call
  finish,  // has the finish reason
  usage,   // has the counts and nothing else
  done,    // marks the end of the stream
};

// Of every frame, and of whole answers, the members at `path` become what `change` makes of them.
struct FaultEdit {
  Fault fault = Fault::no_role;
  std::string_view path;
  std::optional<std::string> (*change)(std::string_view json) = nullptr;
};

// Where a frame stands.
struct Scene {
  const Faults& faults;
  FrameKind kind = FrameKind::other;
  bool whole = false;       // it is a whole answer
  std::int64_t number = 0;  // of the frame, from 0
  const Usage& usage;
};

struct SaidCall {
  std::string id;
  std::string name;
  std::string arguments;
};

// What a server signs or seals of its own.
enum class SealPoint : std::uint8_t { thought, first_call, turn };

struct WireFaults {
  const Protocol& protocol;
  bool one_choice = true;  // a request for several gets one
  bool lines = false;      // a line per frame, else server-sent events
  bool typed = false;      // events are named after the `type` of their data
  // The frame that finishes the turn marks the end as well: it can be left out as such. `unmarked`: nothing marks the end.
  bool ends_with_finish = false;
  bool unmarked = false;
  bool timed = false;    // the end says how long it took
  bool filters = false;  // a turn that is refused ends as one that is filtered
  FrameKind (*kind_of)(std::string_view data) = nullptr;
  std::string_view call_start;  // what the first frame of a call has
  // The array that can have several calls, and the arguments where they are an object, not a text. Paths.
  std::string_view calls = {};
  std::string_view arguments = {};
  std::string_view delta = {};  // in whose place the finish may have the last call; a path
  std::span<const FaultEdit> edits;
  // What no row can say, after the rows. It may add frames.
  void (*edit)(WireFrames& frames, const Scene& scene) = nullptr;
  // The frames of one call.
  void (*shape_call)(WireFrames& frames, const SaidCall& call, const Faults& faults) = nullptr;
  // A report of `reasoning_details` that makes the encoder write the seal of a text; empty: none.
  std::string (*seal)(SealPoint point, std::string_view text) = nullptr;
  // The failure inside a stream: the encoder's frames for it, as the faults want them. `next`: the frame in whose place it is.
  int failure_status = 500;
  std::string_view failure = "The server had an error while processing your request.";
  void (*fail)(WireFrames& frames, const WireFrame& next, const Faults& faults) = nullptr;
  std::string_view cut_frame;  // data that is cut short
  // The frame with the counts for a request that did not ask for them; `frame` is any other.
  std::string (*usage_frame)(std::string_view frame, const Usage& usage) = nullptr;
};

// Changes for the rows. A member that is not there stays away.
std::optional<std::string> to_null(std::string_view json);
std::optional<std::string> to_empty_text(std::string_view json);
std::optional<std::string> to_zero(std::string_view json);
std::optional<std::string> plus_one(std::string_view json);
std::optional<std::string> to_text(std::string_view json);  // 1 -> "1"
// "{\"a\":1}" -> {"a":1}; a text that is not JSON stays.
std::optional<std::string> unquoted(std::string_view json);

// {"raw":"..."}, as encoders write arguments that are not an object where the protocol wants one -> what the script said.
std::optional<std::string> unwrapped(std::string_view json);

// The finish reason that the faults put in place of others, as JSON; nothing: none.
std::optional<std::string> faulty_finish(const Faults& faults);

Error scripted_error(int status, std::string_view message);

}  // namespace callgate::script
