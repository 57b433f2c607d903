// Every metric of the gateway: one line each, and one row in docs/metrics.md. The process_* metrics
// are in process_metrics.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/metric.h"

namespace callgate::telemetry {

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// "2xx" for 204; "other" for what is no HTTP status.
std::string_view status_class(int status);

class Metrics {
 public:
  Metrics();

  // All of it in Prometheus' text format 0.0.4, with the process_* metrics.
  std::string render() const;
  const Registry& registry() const { return registry_; }

 private:
  Registry registry_;

 public:
  // The first label is the one with many values.
  // clang-format off
  Counters<2>   requests{registry_, "callgate_requests_total", "Requests answered, by status class.", {"model", "status"}};
  Histograms<1> request_duration{registry_, "callgate_request_duration_seconds", "Time from the request's last byte to the answer's last byte.", {"model"}};
  Counters<1>   errors{registry_, "callgate_errors_total", "Requests that failed or were refused, by error code.", {"code"}};
  Histograms<1> time_to_first_token{registry_, "callgate_time_to_first_token_seconds", "Time from the request's last byte to the first text, reasoning or call.", {"model"}};
  Histograms<1> inter_frame{registry_, "callgate_inter_frame_seconds", "Time between two writes to a client that streams.", {"model"}};
  Gauges<0>     streams_active{registry_, "callgate_streams_active", "Answers that are streaming now."};
  Gauges<0>     connections_active{registry_, "callgate_connections_active", "Open client connections."};
  Gauges<0>     memory_used{registry_, "callgate_memory_reserved_bytes", "What requests hold of limits.memory."};
  Gauges<0>     memory_limit{registry_, "callgate_memory_limit_bytes", "limits.memory."};
  Counters<0>   memory_refused{registry_, "callgate_memory_refused_total", "Requests that were refused or broken off for want of memory."};
  Counters<0>   memory_shed{registry_, "callgate_memory_shed_total", "Copies for the log, captures and rooms that were left out for want of memory."};
  Counters<0>   upstream_frames{registry_, "callgate_upstream_frames_total", "Frames read from upstreams."};
  Counters<2>   tokens{registry_, "callgate_tokens_total", "Tokens that upstreams reported, by kind: prompt, completion, cached, reasoning.", {"model", "kind"}};
  Counters<3>   calls{registry_, "callgate_calls_total", "Tool calls that clients got, by dialect and outcome: complete, truncated, malformed.", {"model", "dialect", "outcome"}};
  Counters<2>   repairs{registry_, "callgate_repairs_total", "Upstream faults that were repaired, by kind.", {"model", "repair"}};
  Counters<2>   grammar{registry_, "callgate_grammar_total", "Inputs of custom tools that do not follow their grammar, by result: broken, or unchecked where callgate cannot check it.", {"model", "result"}};
  Counters<2>   dropped_parts{registry_, "callgate_dropped_parts_total", "Parts of requests that an upstream could not be told, by protocol and kind: item, tool, field.", {"protocol", "kind"}};
  Counters<2>   missed_calls{registry_, "callgate_missed_calls_total", "Turns with tools but without a call whose text looks like one, by the dialect that it looks like.", {"model", "dialect"}};
  Counters<1>   held_back_deltas{registry_, "callgate_held_back_deltas_total", "Pieces of model text of which nothing could leave at once, since a marker may have begun.", {"dialect"}};
  Counters<1>   held_back_bytes{registry_, "callgate_held_back_bytes_total", "Bytes of such pieces.", {"dialect"}};
  Counters<1>   withheld_calls{registry_, "callgate_withheld_calls_total", "Tool calls that a policy withheld.", {"model"}};
  Counters<1>   turns_cut{registry_, "callgate_turns_cut_total", "Turns that a policy ended after their calls.", {"model"}};
  Counters<2>   loops{registry_, "callgate_loops_total", "Tool loops that ended, by end reason; returned: the client runs tools of its own first.", {"model", "end"}};
  Counters<1>   loop_states_lost{registry_, "callgate_loop_states_lost_total", "States of tool loops that wait for their clients and were lost: too_large, no_room, unreadable.", {"reason"}};
  Counters<2>   loop_compactions{registry_, "callgate_loop_compactions_total", "Requests of tool loops that were made shorter to fit the model's context, by what was done: shortened, summary, no_summary (the model gave none).", {"model", "done"}};
  Gauges<0>     loops_active{registry_, "callgate_loops_active", "Tool loops that run now."};
  Counters<2>   tool_runs{registry_, "callgate_tool_runs_total", "Runs of tools by the gateway, by outcome: ok, error, cancelled.", {"tool", "outcome"}};
  Histograms<1> tool_duration{registry_, "callgate_tool_duration_seconds", "Time that runs of tools took.", {"tool"}};
  Counters<3>   hook_questions{registry_, "callgate_hook_questions_total", "Questions to hooks, and what hooks were told, by time (before, after, prompt, answer, approval, loop_start, round, loop_end) and outcome: allow, rewrite, replace, deny, failed, cancelled, told, dropped.", {"hook", "when", "outcome"}};
  Gauges<0>     rooms{registry_, "callgate_rooms", "Rooms that are kept, with or without subscribers."};
  Gauges<0>     room_subscribers{registry_, "callgate_room_subscribers", "Connections that are in a room."};
  Counters<0>   room_subscribers_dropped{registry_, "callgate_room_subscribers_dropped_total", "Subscribers of rooms that were dropped since they were too slow."};
  Counters<0>   room_frames{registry_, "callgate_room_frames_total", "Frames handed to subscribers of rooms."};
  Counters<2>   upstream_requests{registry_, "callgate_upstream_requests_total", "Requests sent to upstreams, by result.", {"upstream", "result"}};
  Counters<1>   upstream_retries{registry_, "callgate_upstream_retries_total", "Requests sent again, to the same or the next upstream.", {"upstream"}};
  Counters<2>   upstream_errors{registry_, "callgate_upstream_errors_total", "Failures of upstreams, by error code.", {"upstream", "code"}};
  Gauges<1>     upstream_up{registry_, "callgate_upstream_up", "1 when the last request to an upstream was answered, 0 when it failed.", {"upstream"}};
  Gauges<1>     upstream_ejected{registry_, "callgate_upstream_ejected", "1 while an upstream is left out of pools.", {"upstream"}};
  Counters<2>   upstream_ejections{registry_, "callgate_upstream_ejections_total", "Upstreams that were left out of pools, by trouble: slow, failure, cut, silence.", {"upstream", "trouble"}};
  Counters<2>   upstream_probes{registry_, "callgate_upstream_probes_total", "Copies of requests and checks that found out whether an upstream is well, by result: ok, failed.", {"upstream", "result"}};
  Gauges<1>     upstream_in_flight{registry_, "callgate_upstream_in_flight", "Requests that are under way at an upstream.", {"upstream"}};
  Gauges<1>     upstream_queued{registry_, "callgate_upstream_queued", "Requests that wait for an upstream with max_in_flight.", {"upstream"}};
  Counters<1>   retries_refused{registry_, "callgate_retries_refused_total", "Requests that were not repeated because limits.retry_percent was used up.", {"model"}};
  Gauges<1>     codex_child_up{registry_, "callgate_codex_child_up", "1 while the codex program of the upstream runs.", {"upstream"}};
  Counters<1>   codex_child_restarts{registry_, "callgate_codex_child_restarts_total", "Codex programs that were started again.", {"upstream"}};
  Counters<0>   client_disconnects{registry_, "callgate_client_disconnects_total", "Clients that left before their answer ended."};
  Counters<2>   budget_stops{registry_, "callgate_budget_stops_total", "Requests that a budget refused, and streams that it stopped.", {"key", "when"}};
  Counters<1>   rate_limited{registry_, "callgate_rate_limited_total", "Requests refused because a key used up its rate.", {"key"}};
  Counters<0>   auth_failures{registry_, "callgate_auth_failures_total", "Requests without a valid key."};
  Gauges<0>     store_queue_depth{registry_, "callgate_store_queue_depth", "Entries of the request log that wait to be written."};
  Gauges<0>     store_lag{registry_, "callgate_store_lag_milliseconds", "How long the oldest entry of the request log has been waiting."};
  Counters<0>   store_dropped{registry_, "callgate_store_dropped_total", "Entries of the request log that were lost."};
  Counters<0>   store_errors{registry_, "callgate_store_errors_total", "Failed attempts to open or write the store."};
  Counters<0>   store_shed{registry_, "callgate_store_shed_total", "Entries of the request log that were kept without their bodies."};
  Counters<0>   store_spooled{registry_, "callgate_store_spooled_total", "Entries of the request log that went to the journal."};
  Gauges<0>     store_journal_bytes{registry_, "callgate_store_journal_bytes", "Bytes of the journal that wait to be replayed."};
  Counters<0>   session_failures{registry_, "callgate_session_store_failures_total", "Questions about sessions that the store did not answer; memory was used instead, or the request failed."};
  Gauges<0>     store_healthy{registry_, "callgate_store_healthy", "1 while the store can be written."};
  Counters<1>   captures{registry_, "callgate_captures_total", "Captures of requests, by result: written, truncated, dropped, failed.", {"result"}};
  Gauges<0>     otlp_queue_depth{registry_, "callgate_otlp_queue_depth", "Spans that wait to be exported."};
  Counters<0>   otlp_sent{registry_, "callgate_otlp_sent_total", "Spans that the receiver took."};
  Counters<0>   otlp_dropped{registry_, "callgate_otlp_dropped_total", "Spans that were lost: the queue was full, or the receiver did not take them."};
  Counters<0>   otlp_failures{registry_, "callgate_otlp_failures_total", "Requests to the receiver that failed."};
  Counters<0>   log_shed{registry_, "callgate_log_shed_total", "Log lines that were left out: stderr was too slow, or failed."};
  Counters<1>   config_reloads{registry_, "callgate_config_reloads_total", "Reloads of the configuration, by result: ok, failed.", {"result"}};
  Gauges<0>     draining{registry_, "callgate_draining", "1 while the gateway finishes what it has and takes nothing new."};
  Counters<0>   exceptions{registry_, "callgate_exceptions_total", "Exceptions that reached the top of a request or a task. Each is a bug."};
  Gauges<1>     build{registry_, "callgate_build_info", "Always 1; the label says what runs.", {"version"}};
  // clang-format on
};

}  // namespace callgate::telemetry
