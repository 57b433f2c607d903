#include "turn/live_turn.h"

#include <utility>

namespace callgate::server {
namespace {

store::RequestRecord without_content(const store::RequestRecord& record) {
  store::RequestRecord copy;
  copy.id = record.id;
  copy.received_at = record.received_at;
  copy.key_name = record.key_name;
  copy.protocol = record.protocol;
  copy.model = record.model;
  copy.upstream = record.upstream;
  copy.dialect = record.dialect;
  copy.client_address = record.client_address;
  copy.session = record.session;
  copy.trace_id = record.trace_id;
  copy.stream = record.stream;
  return copy;
}

// What a row shows: no content.
store::RequestOutcome without_content(const store::RequestOutcome& outcome) {
  store::RequestOutcome copy;
  copy.id = outcome.id;
  copy.key_name = outcome.key_name;
  copy.state = outcome.state;
  copy.http_status = outcome.http_status;
  copy.finish_reason = outcome.finish_reason;
  copy.error_code = outcome.error_code;
  copy.error_message = outcome.error_message;
  copy.upstream = outcome.upstream;
  copy.dialect = outcome.dialect;
  copy.calls = outcome.calls;
  copy.usage = outcome.usage;
  copy.bytes_in = outcome.bytes_in;
  copy.bytes_out = outcome.bytes_out;
  copy.frames = outcome.frames;
  copy.repairs = outcome.repairs;
  copy.attempts = outcome.attempts;
  copy.first_byte_ms = outcome.first_byte_ms;
  copy.first_token_ms = outcome.first_token_ms;
  copy.total_ms = outcome.total_ms;
  copy.session = outcome.session;
  copy.cut = outcome.cut;
  copy.repair_names = outcome.repair_names;
  copy.missed_call = outcome.missed_call;
  copy.cost = outcome.cost;
  return copy;
}

}  // namespace

void LiveTurn::begin(const store::RequestRecord& record, LiveProgress progress) {
  record_ = std::make_shared<const store::RequestRecord>(without_content(record));
  if (job_.capture != nullptr) {
    entry_.emplace(feed_, loop_, job_.request_id, [this]() -> std::optional<CaptureJob> {
      return job_.capture->look(job_.request);
    });
  }
  told_ms_ = loop_.now();
  feed_.add({.record = record_, .progress = std::move(progress)});
}

void LiveTurn::progress(LiveProgress progress, bool force) {
  const std::uint64_t now = loop_.now();
  if (!force && (now < told_ms_ + kPauseMs || !feed_.may_progress(now))) return;
  told_ms_ = now;
  feed_.add({.record = record_, .progress = std::move(progress)});
}

void LiveTurn::end(const store::RequestOutcome& outcome) {
  entry_.reset();
  feed_.add({.record = record_,
             .outcome = std::make_shared<const store::RequestOutcome>(without_content(outcome))});
}

}  // namespace callgate::server
