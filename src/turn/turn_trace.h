// What a turn tells traces and debug log lines: one span for the request, one for each try at an upstream, one for the
// life of each call. Stamps the times that the pipeline does not know. Also times the gaps between writes to the client.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "callgate/pipeline.h"
#include "net/http.h"
#include "store/request_log.h"
#include "telemetry/span.h"
#include "telemetry/trace_context.h"
#include "turn/ask.h"
#include "turn/observe.h"
#include "turn/world.h"

namespace callgate::server {

// Views outlive the trace.
struct TurnSubject {
  std::string_view request;   // its id
  std::string_view key;       // its name
  std::string_view model;     // what the client asks for
  std::string_view model_id;  // what the upstream calls it
  std::string_view dialect;
  bool stream = false;
  Milliseconds waited{0};  // since the request's head came
};

class TurnTrace final : public TurnObserver {
 public:
  // `asked`: the request's headers. REQUIRES: world and mint outlive the trace.
  TurnTrace(World& world, IdMint& mint, const net::Headers& asked, const TurnSubject& subject);
  // A turn that was destroyed where it waited leaves its spans, too.
  ~TurnTrace() override;
  TurnTrace(const TurnTrace&) = delete;
  TurnTrace& operator=(const TurnTrace&) = delete;

  // For the pipeline; nullptr when nobody wants to know.
  TurnObserver* observer();
  // As log lines show it; empty when the request is in no trace.
  std::string trace_text() const;

  using HeaderList = std::vector<std::pair<std::string, std::string>>;
  // Adds traceparent and tracestate to the headers of the upstream's request.
  void begin_attempt(const UpstreamConfig& upstream, HeaderList& headers);
  // `status` is the upstream's, 0 when none came; nullptr: it answered.
  void end_attempt(int status, const Error* error);
  // Bytes of a stream leave for the client now.
  void wrote();
  void end(const store::RequestOutcome& outcome, const TurnSummary& summary);

  // A tool loop asks the model: tries from now on are of this round. `again`: they repeat those before.
  void begin_round(std::uint32_t round, bool again);
  // The gateway runs a tool. What the tool gets to continue the trace; empty: there is none.
  struct ToolTrace {
    std::string traceparent;
    std::string tracestate;
  };
  ToolTrace begin_tool(std::string_view call_id, std::string_view name);
  // `outcome`: ok, error or cancelled.
  void end_tool(std::string_view call_id, std::string_view name, std::string_view outcome);

  void turn_started(std::string_view response_id) override;
  void call_started(const CallStart& start) override;
  void call_finished(const CallEnd& end) override;

 private:
  struct Recording;
  struct Call;
  std::int64_t now() const;  // Unix nanoseconds
  telemetry::Span child_span(telemetry::SpanKind kind, const std::string& name);
  const telemetry::Span& open_attempt(const UpstreamConfig& upstream);
  telemetry::Span call_span(const Call& call, std::int64_t turn_end);
  std::string_view dialect_of(bool in_text) const { return in_text ? subject_.dialect : "native"; }
  // The call that was made under that id, else the first of that name; nullptr: it has no span.
  Call* find_call(std::string_view call_id, std::string_view name, bool runs);
  void hand_over();

  World& world_;
  IdMint& mint_;
  const TurnSubject subject_;
  const bool logs_calls_;
  std::optional<telemetry::TraceContext> context_;
  std::unique_ptr<Recording> recording_;  // nullptr: the trace is not recorded
  telemetry::Histogram* gaps_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> last_write_;
};

// A request for a turn that was refused before there was one. Callers without a valid key leave no spans.
void trace_refusal(World& world, IdMint& mint, const Ask& ask, int status, const Error& error,
                   Milliseconds waited);

}  // namespace callgate::server
