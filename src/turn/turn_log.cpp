#include "turn/turn_log.h"

#include <utility>

#include "access/token_meter.h"
#include "chat/scrubbed.h"
#include "config/price.h"

namespace callgate::server {

TurnLog::TurnLog(const TurnHost& host, TurnJob& job, const net::Headers& asked)
    : world_(host.world),
      loop_(host.loop),
      job_(job),
      stream_(job.request.stream),
      trace_(host.world, host.mint, asked, subject()),
      record_(job.snapshot->mask, max_logged(*job.snapshot, job.key, job.config())),
      live_(host.world.live, host.loop, job) {
  record_.observer(trace_.observer());
}

void TurnLog::begin(std::string_view session) {
  show("asking", nullptr);
  if (!world_.requests.keeps_rows()) return;
  store::RequestRecord record = make_row();
  record.session = session;
  const std::vector<std::string>& scrub = job_.snapshot->config.scrub;
  if (!scrub.empty() && !job_.received.empty()) {
    job_.received = without_members(job_.received, scrub);
  }
  record_.begin(record, std::move(job_.received), job_.request);
  observe_begin(world_, std::move(record));
}

store::RequestRecord TurnLog::make_row() const {
  store::RequestRecord record = make_record(subject(), job_.config(), job_.protocol_name);
  record.client_address = job_.peer;
  record.trace_id = trace_.trace_text();
  return record;
}

void TurnLog::show(std::string_view phase, const TurnSummary* summary) {
  if (!live_.is_watched()) return;
  LiveProgress progress{.phase = phase,
                        .upstream = facts_.upstream,
                        .attempts = attempts_,
                        .first_token_ms = first_token_ms_,
                        .elapsed_ms = elapsed_ms()};
  if (summary != nullptr) {
    progress.frames = summary->frames_in;
    progress.bytes = summary->text_bytes + summary->reasoning_bytes + summary->argument_bytes;
    progress.calls = summary->calls;
  }
  const bool is_new = phase != std::exchange(shown_, phase);
  if (live_.has_begun()) return live_.progress(std::move(progress), is_new);
  store::RequestRecord record = make_row();
  record.received_at -= static_cast<std::int64_t>(elapsed_ms());
  live_.begin(record, std::move(progress));
}

TurnSubject TurnLog::subject() const {
  const ModelConfig& model = job_.config();
  return {.request = job_.request_id,
          .key = job_.key_name(),
          .model = model.name,
          .model_id = model.id.empty() ? model.name : model.id,
          .dialect = job_.dialect_name(),
          .stream = stream_,
          .waited = Milliseconds(elapsed_ms())};
}

TurnLabels TurnLog::labels() const {
  return {.request = job_.request_id,
          .trace = trace_.trace_text(),
          .model = job_.config().name,
          .dialect = job_.dialect_name()};
}

void TurnLog::begin_attempt(const UpstreamConfig& upstream) {
  ++attempts_;
  facts_ = {.upstream = upstream.name};
  shown_ = {};
  show("waiting", nullptr);
}

void TurnLog::will_send(const UpstreamConfig& upstream, UpstreamRequest& request) {
  trace_.begin_attempt(upstream, request.headers);
}

void TurnLog::end_attempt(int status, const Error* error) {
  trace_.end_attempt(status, error);
  observe_upstream(world_, facts_.upstream, error);
}

void TurnLog::will_retry(std::string_view upstream, const Error& error) {
  observe_retry(world_, labels(), upstream, error);
}

void TurnLog::heard_byte() {
  if (!first_byte_ms_) first_byte_ms_ = elapsed_ms();
}

void TurnLog::heard_token() {
  if (!first_token_ms_) first_token_ms_ = elapsed_ms();
}

void TurnLog::used(std::string_view upstream, const std::optional<Usage>& usage) {
  if (!usage) return;
  const auto& prices = job_.snapshot->config.prices;
  const PriceConfig* price = find_price(prices, job_.config().name, upstream);
  if (price == nullptr) {
    unpriced_ = true;
    return;
  }
  priced_ = true;
  cost_ += cost_of(*price, *usage);
}

void TurnLog::progress(const TurnSummary& summary) { show("streaming", &summary); }

void TurnLog::end(const End& end, const TurnSummary& summary) {
  TurnEnd told;
  told.request = job_.request_id;
  told.key = job_.key_name();
  told.bytes_in = job_.received_bytes;
  told.how = end.how;
  told.error = end.error;
  told.status = end.status;
  told.upstream = facts_.upstream;
  told.session = facts_.session;
  told.attempts = attempts_;
  told.bytes_out = end.bytes_out;
  told.first_byte_ms = first_byte_ms_;
  told.first_token_ms = first_token_ms_;
  told.total_ms = elapsed_ms();
  told.cut = end.cut;
  store::RequestOutcome outcome = make_outcome(told, summary);
  if (priced_ && !unpriced_) outcome.cost = cost_;
  // Of an answer that was cut its upstream says nothing; what was counted is an estimate.
  if (job_.meter != nullptr && !outcome.usage) outcome.usage = job_.meter->total();
  if (job_.capture) {
    using Why = RecentCaptures::Why;
    const bool suspicious = is_suspicious(outcome, summary);
    const bool keep = suspicious || live_.is_watched();
    if (keep && end.replayed != nullptr) job_.capture->keep_request(*end.replayed);
    job_.capture->finish(store::to_string(outcome.state), keep ? &world_.recent_captures : nullptr,
                         suspicious ? Why::suspicious : Why::watched);
  }
  record_.complete(outcome);
  if (live_.has_begun()) live_.end(outcome);
  trace_.end(outcome, summary);
  observe_end(world_, labels(), std::move(outcome), summary);
}

}  // namespace callgate::server
