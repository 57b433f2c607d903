#include "turn/turn_outcome.h"

#include "engine/answer_notes.h"
#include "net/unix_time.h"
#include "turn/observe.h"
#include "turn/turn_record.h"

namespace callgate::server {

std::size_t max_logged(const Snapshot& snapshot, const KeyState* key, const ModelConfig& model) {
  const Config& config = snapshot.config;
  const bool wanted = logs_content(config, key == nullptr ? nullptr : &key->config, model);
  return wanted ? config.limits.max_logged_answer.count : 0;
}

store::RequestRecord make_record(const TurnSubject& subject, const ModelConfig& model,
                                 std::string_view protocol) {
  store::RequestRecord record;
  record.id = subject.request;
  record.received_at = net::unix_ms();
  record.key_name = subject.key;
  record.protocol = protocol;
  record.model = model.name;
  record.upstream = model.upstream.front();
  record.dialect = subject.dialect;
  record.stream = subject.stream;
  return record;
}

// The end of a whole answer is known before its head is written.
void add_counters(net::Headers& headers, const TurnSummary& summary, const PolicyOptions& policy) {
  if (summary.usage_estimated) headers.add("x-callgate-usage", "estimated");
  if (summary.grammar_broken > 0) headers.add("x-callgate-warning", engine::kGrammarBroken);
  headers.add("x-callgate-tool-call-count", std::to_string(summary.calls));
  headers.add("x-callgate-tool-call-truncated", summary.withheld_calls > 0 ? "true" : "false");
  headers.add("x-callgate-stop-after-tools-mode", callgate::to_string(policy.stop_after_tools));
}

std::string repair_names(const RepairCounts& repairs) {
  std::string names;
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    if (repairs[i] == 0) continue;
    if (!names.empty()) names += ", ";
    names += callgate::to_string(static_cast<Repair>(i));
    if (repairs[i] > 1) names += " x" + std::to_string(repairs[i]);
  }
  return names;
}

bool is_suspicious(const store::RequestOutcome& outcome, const TurnSummary& summary) {
  const auto count = [&](Repair repair) {
    return summary.repairs[static_cast<std::size_t>(repair)];
  };
  return outcome.state == store::RequestState::failed || !summary.missed_in.empty() ||
         count(Repair::frame_invalid) > 0 || count(Repair::utf8_invalid) > 0;
}

store::RequestOutcome make_outcome(const TurnEnd& end, const TurnSummary& summary) {
  using store::RequestState;
  using How = TurnEnd::How;
  store::RequestOutcome outcome;
  outcome.id = end.request;
  outcome.key_name = end.key;
  outcome.http_status = end.status;
  outcome.state = end.how == How::gone ? RequestState::disconnected : RequestState::completed;
  const bool broke_off = end.how == How::answered && !end.error->message.empty() &&
                         summary.reason == FinishReason::upstream_error;
  if (end.how == How::failed || broke_off) {
    outcome.state = RequestState::failed;
    outcome.error_code = to_string(end.error->code);
    outcome.error_message = end.error->message;
  }
  if (end.how == How::answered) outcome.finish_reason = summary.reason;
  if (end.how == How::gone) outcome.finish_reason = summary.known_reason;
  outcome.upstream = end.upstream;
  outcome.session = end.session;
  outcome.calls = summary.calls;
  outcome.usage = summary.usage;
  outcome.bytes_in = static_cast<std::int64_t>(end.bytes_in);
  outcome.bytes_out = static_cast<std::int64_t>(end.bytes_out);
  outcome.frames = static_cast<std::int64_t>(summary.frames_in);
  for (const std::uint32_t count : summary.repairs) outcome.repairs += count;
  outcome.repair_names = repair_names(summary.repairs);
  outcome.missed_call = summary.missed_in;
  outcome.dialect = summary.settled_on;
  outcome.attempts = end.attempts;
  outcome.first_byte_ms = end.first_byte_ms;
  outcome.first_token_ms = end.first_token_ms;
  outcome.total_ms = static_cast<std::int64_t>(end.total_ms);
  outcome.cut = end.cut;
  return outcome;
}

}  // namespace callgate::server
