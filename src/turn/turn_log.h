// A turn as its row in the request log, metrics, traces and captures see it, from its beginning to its end. Rounds say
// what they do at upstreams, the answer what becomes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/pipeline.h"
#include "turn/live_turn.h"
#include "turn/observe.h"
#include "turn/turn_job.h"
#include "turn/turn_outcome.h"
#include "turn/turn_record.h"
#include "turn/turn_trace.h"

namespace callgate::server {

// What the last attempt at an upstream did to the request, and said of the answer before it came.
struct AttemptFacts {
  std::string upstream;
  std::string_view read_as;     // the dialect
  std::string_view settled_on;  // the one that `auto` found calls in, so far
  std::string dropped;          // names of fields that its wire format cannot carry
  std::string session_state;    // at an upstream that keeps sessions: whether this one is new
  std::string session;          // its id there
  std::string unsaid;           // names of what its answer said, and an answer cannot carry
  std::uint32_t tries = 0;      // of this round, with this one
  bool lacks_call = false;      // the model was asked twice for a call, and has made none
};

class TurnLog {
 public:
  // `asked`: the headers of the request, which may name a trace. REQUIRES: the job outlives the log.
  TurnLog(const TurnHost& host, TurnJob& job, const net::Headers& asked);
  TurnLog(const TurnLog&) = delete;
  TurnLog& operator=(const TurnLog&) = delete;

  // The row is there from now on. Takes what was received out of the job.
  void begin(std::string_view session);

  TurnRecord& record() { return record_; }
  TurnTrace& trace() { return trace_; }
  AttemptFacts& facts() { return facts_; }
  const AttemptFacts& facts() const { return facts_; }
  TurnLabels labels() const;
  // Who hears of calls: the row and the trace.
  TurnObserver* observer() { return &record_; }
  std::uint64_t elapsed_ms() const { return loop_.now() - job_.started_ms; }

  // Another attempt, of which nothing is known yet.
  void begin_attempt(const UpstreamConfig& upstream);
  // Adds what continues the trace to the request's headers.
  void will_send(const UpstreamConfig& upstream, UpstreamRequest& request);
  // `status` is the upstream's, 0 when none came; nullptr: it answered.
  void end_attempt(int status, const Error* error);
  void will_retry(std::string_view upstream, const Error& error);
  // The upstream's first byte, and the first of its events that the client sees. Later ones do not count.
  void heard_byte();
  void heard_token();
  // Some of the answer was read.
  void progress(const TurnSummary& summary);
  // An answer was read to its end, good or bad: what the upstream says that it used is counted at its price.
  void used(std::string_view upstream, const std::optional<Usage>& usage);
  bool has_token() const { return first_token_ms_.has_value(); }

  struct End {
    TurnEnd::How how = TurnEnd::How::gone;
    int status = 0;
    std::uint64_t bytes_out = 0;
    const Error* error = nullptr;
    std::string_view cut;               // what ended or thinned the turn
    const Request* replayed = nullptr;  // what a capture needs to be replayed; nullptr: it has it
  };
  // Completes the row, counts, ends the trace and the capture. Once.
  void end(const End& end, const TurnSummary& summary);

 private:
  TurnSubject subject() const;
  store::RequestRecord make_row() const;
  // Those who watch hear of it. `summary`: of what was read, nullptr: nothing yet.
  void show(std::string_view phase, const TurnSummary* summary);

  World& world_;
  net::Loop& loop_;
  TurnJob& job_;
  const bool stream_;
  TurnTrace trace_;
  TurnRecord record_;
  LiveTurn live_;
  std::string_view shown_;  // the phase
  AttemptFacts facts_;
  std::uint32_t attempts_ = 0;
  std::int64_t cost_ = 0;  // billionths
  bool priced_ = false;    // something was used
  bool unpriced_ = false;  // something that has no price
  std::optional<std::uint64_t> first_byte_ms_;
  std::optional<std::uint64_t> first_token_ms_;
};

}  // namespace callgate::server
