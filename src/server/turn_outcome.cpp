#include "server/turn_outcome.h"

#include "server/attempt.h"
#include "server/turn_record.h"

namespace callgate::server {

std::size_t max_logged(const Ask& ask, const ModelConfig& model) {
  const Config& config = ask.snapshot->config;
  const KeyConfig* key = ask.key == nullptr ? nullptr : &ask.key->config;
  return logs_content(config, key, model) ? config.limits.max_logged_answer.count : 0;
}

store::RequestRecord make_record(const Ask& ask, const ModelConfig& model,
                                 std::string_view protocol, const TurnLabels& labels, bool stream) {
  return {.id = ask.id,
          .received_at = unix_milliseconds(),
          .key_name = ask.key == nullptr ? "" : ask.key->config.name,
          .protocol = std::string(protocol),
          .model = model.name,
          .upstream = model.upstream.front(),
          .dialect = std::string(labels.dialect),
          .client_address = ask.exchange.peer(),
          .session = std::string(session_of(ask.exchange.head().headers)),
          .trace_id = labels.trace,
          .stream = stream};
}

store::RequestOutcome make_outcome(const Ask& ask, const TurnEnd& end, const TurnSummary& summary) {
  using store::RequestState;
  using How = TurnEnd::How;
  store::RequestOutcome outcome;
  outcome.id = ask.id;
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
  outcome.bytes_in = static_cast<std::int64_t>(ask.received_bytes);
  outcome.bytes_out = static_cast<std::int64_t>(end.bytes_out);
  outcome.frames = static_cast<std::int64_t>(summary.frames_in);
  for (const std::uint32_t count : summary.repairs) outcome.repairs += count;
  outcome.attempts = end.attempts;
  outcome.first_byte_ms = end.first_byte_ms;
  outcome.first_token_ms = end.first_token_ms;
  outcome.total_ms = static_cast<std::int64_t>(end.total_ms);
  outcome.cut = end.cut;
  return outcome;
}

}  // namespace callgate::server
