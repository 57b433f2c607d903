// A turn as the request log knows it: when it begins, and when it has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/error.h"
#include "callgate/pipeline.h"
#include "store/request_log.h"
#include "turn/ask.h"
#include "turn/turn_trace.h"
#include "turn/world.h"

namespace callgate::server {

// Bytes of an answer that the log keeps; 0: no content is kept.
std::size_t max_logged(const Snapshot& snapshot, const KeyState* key, const ModelConfig& model);

// Without the client's address, its session and the trace.
store::RequestRecord make_record(const TurnSubject& subject, const ModelConfig& model,
                                 std::string_view protocol);

// What a whole answer says of itself in its head.
void add_counters(net::Headers& headers, const TurnSummary& summary, const PolicyOptions& policy);

struct TurnEnd {
  enum class How : std::uint8_t {
    answered,  // the client has its answer, or part of it and an error frame
    failed,    // nothing was sent but the error
    gone,      // the client left
  };
  std::string_view request;  // its id
  std::string_view key;      // whose it was; empty: without one
  std::size_t bytes_in = 0;
  How how = How::answered;
  const Error* error = nullptr;
  int status = 0;
  std::string_view upstream;
  std::string_view session;
  std::uint32_t attempts = 0;
  std::uint64_t bytes_out = 0;
  std::optional<std::uint64_t> first_byte_ms;
  std::optional<std::uint64_t> first_token_ms;
  std::uint64_t total_ms = 0;
  std::string_view cut;
};
// As `finish_reason_missing, id_missing x2`.
std::string repair_names(const RepairCounts& repairs);
// The turn failed, lost data, or its text looks like a call: what the upstream sent is worth keeping.
bool is_suspicious(const store::RequestOutcome& outcome, const TurnSummary& summary);

store::RequestOutcome make_outcome(const TurnEnd& end, const TurnSummary& summary);

}  // namespace callgate::server
