#include "admin/log_json.h"

#include <optional>

#include "base/amount.h"
#include "chat/event_log.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

using json::ObjectWriter;

void count_or_null(ObjectWriter& object, std::string_view name,
                   const std::optional<std::int64_t>& count) {
  if (!count) return object.null(name);
  object.integer(name, *count);
}

// Bodies are JSON, but what a client or a mask made of them need not be.
void json_or_text(ObjectWriter& object, std::string_view name, std::string_view body) {
  json::Reader in(body);
  in.skip();
  if (!body.empty() && in.finish()) return object.raw(name, body);
  text_or_null(object, name, body);
}

void add_usage(ObjectWriter& object, const std::optional<Usage>& usage) {
  if (!usage) return object.null("usage");
  ObjectWriter counts(object.key("usage"));
  counts.integer("prompt_tokens", usage->prompt_tokens);
  counts.integer("completion_tokens", usage->completion_tokens);
  counts.integer("total_tokens", usage->total_tokens);
  counts.integer("cached_tokens", usage->cached_tokens);
  counts.integer("reasoning_tokens", usage->reasoning_tokens);
  counts.close();
}

void add_outcome(ObjectWriter& object, const store::RequestOutcome& outcome) {
  count_or_null(
      object, "status",
      outcome.http_status == 0 ? std::nullopt : std::optional<std::int64_t>(outcome.http_status));
  text_or_null(object, "finish_reason",
               outcome.finish_reason ? to_string(*outcome.finish_reason) : std::string_view());
  if (outcome.error_code.empty() && outcome.error_message.empty()) {
    object.null("error");
  } else {
    ObjectWriter error(object.key("error"));
    error.string("code", outcome.error_code);
    error.string("message", outcome.error_message);
    error.close();
  }
  text_or_null(object, "cut", outcome.cut);
  object.integer("tool_calls", outcome.calls);
  add_usage(object, outcome.usage);
  object.integer("bytes_in", outcome.bytes_in);
  object.integer("bytes_out", outcome.bytes_out);
  object.integer("frames", outcome.frames);
  object.integer("repairs", outcome.repairs);
  text_or_null(object, "repair_names", outcome.repair_names);
  text_or_null(object, "missed_call", outcome.missed_call);
  outcome.cost ? object.raw("cost", print_amount(*outcome.cost)) : object.null("cost");
  object.integer("attempts", outcome.attempts);
  count_or_null(object, "first_byte_ms", outcome.first_byte_ms);
  count_or_null(object, "first_token_ms", outcome.first_token_ms);
  object.integer("total_ms", outcome.total_ms);
}

void add_result(ObjectWriter& call, const store::CallResult& result) {
  ObjectWriter object(call.key("result"));
  object.integer("round", result.round);
  object.boolean("is_error", result.is_error);
  object.integer("duration_ms", result.duration_ms);
  object.integer("bytes", result.bytes);
  text_or_null(object, "text", result.text);
  object.close();
}

void add_calls(ObjectWriter& object, const std::vector<store::CallRow>& calls) {
  std::string& out = object.key("calls");
  out.push_back('[');
  for (const store::CallRow& call : calls) {
    if (out.back() != '[') out.push_back(',');
    ObjectWriter one(out);
    one.string("id", call.id);
    one.string("name", call.name);
    one.string("outcome", to_string(call.outcome));
    if (call.result) add_result(one, *call.result);
    one.close();
  }
  out.push_back(']');
}

}  // namespace

void text_or_null(json::ObjectWriter& object, std::string_view name, std::string_view text) {
  if (text.empty()) return object.null(name);
  object.string(name, text);
}

void add_row(json::ObjectWriter& object, const store::RequestRow& row) {
  const store::RequestRecord& record = row.record;
  const store::RequestOutcome& outcome = row.outcome;
  const auto newer = [](const std::string& late, const std::string& early) -> std::string_view {
    return late.empty() ? early : late;
  };
  object.string("id", record.id);
  object.string("object", "request");
  object.string("received_at", print_time(record.received_at));
  object.string("state", store::to_string(outcome.state));
  object.string("model", record.model);
  text_or_null(object, "upstream", newer(outcome.upstream, record.upstream));
  text_or_null(object, "dialect", newer(outcome.dialect, record.dialect));
  text_or_null(object, "key", record.key_name);
  text_or_null(object, "session", newer(outcome.session, record.session));
  text_or_null(object, "trace_id", record.trace_id);
  object.string("protocol", record.protocol);
  object.string("client_address", record.client_address);
  object.boolean("stream", record.stream);
  if (outcome.state != store::RequestState::running) add_outcome(object, outcome);
  if (!row.resolved_at) return;
  ObjectWriter resolved(object.key("resolved"));
  resolved.string("at", print_time(*row.resolved_at));
  text_or_null(resolved, "note", row.resolution);
  resolved.close();
}

std::string print_page(const store::RequestPage& page) {
  std::string out;
  ObjectWriter object(out);
  object.string("object", "list");
  object.key("data").push_back('[');
  for (const store::RequestRow& row : page.rows) {
    if (out.back() != '[') out.push_back(',');
    ObjectWriter one(out);
    add_row(one, row);
    one.close();
  }
  out.push_back(']');
  object.boolean("has_more", !page.cursor.empty());
  text_or_null(object, "next_cursor", page.cursor);
  object.close();
  return out;
}

std::string print_request(const store::RequestRow& row, const std::vector<store::CallRow>& calls,
                          const store::RequestContent& content) {
  std::string out;
  ObjectWriter object(out);
  add_row(object, row);
  add_calls(object, calls);
  json_or_text(object, "received", content.received);
  json_or_text(object, "sent", content.sent);
  json_or_text(object, "response", content.response);
  json_or_text(object, "events", content.events);
  object.close();
  return out;
}

std::string print_events(const store::RequestContent& content) {
  std::string out;
  ObjectWriter object(out);
  object.string("object", "list");
  if (content.events.empty()) {
    object.raw("data", "[]");
  } else {
    json_or_text(object, "data", content.events);
  }
  object.close();
  return out;
}

std::string print_usage(const std::vector<std::string>& groups,
                        const std::vector<store::UsageRow>& rows) {
  std::string out;
  ObjectWriter object(out);
  object.string("object", "list");
  object.string("group", groups.size() > 1 ? groups[0] + "," + groups[1] : groups[0]);
  object.key("data").push_back('[');
  for (const store::UsageRow& row : rows) {
    if (out.back() != '[') out.push_back(',');
    ObjectWriter one(out);
    one.string("group", row.group);
    one.string(groups[0], row.group);
    if (groups.size() > 1) one.string(groups[1], row.second);
    one.integer("requests", row.requests);
    one.integer("failed", row.failed);
    one.integer("tool_calls", row.calls);
    one.integer("prompt_tokens", row.prompt_tokens);
    one.integer("completion_tokens", row.completion_tokens);
    one.integer("cached_tokens", row.cached_tokens);
    one.integer("reasoning_tokens", row.reasoning_tokens);
    one.raw("cost", print_amount(row.cost));
    one.integer("unpriced_requests", row.unpriced);
    one.close();
  }
  out.push_back(']');
  object.close();
  return out;
}

std::string print_stats(const store::StoreStats& stats, const store::Health& health) {
  std::string out;
  ObjectWriter object(out);
  object.string("object", "stats");
  object.string("engine", stats.engine);
  object.integer("schema", stats.schema);
  object.integer("requests", stats.requests);
  object.integer("sessions", stats.sessions);
  object.integer("bytes", stats.bytes);
  text_or_null(object, "oldest_at", stats.oldest_at ? print_time(*stats.oldest_at) : "");
  ObjectWriter writer(object.key("writer"));
  writer.boolean("healthy", health.healthy);
  text_or_null(writer, "problem", health.problem);
  writer.integer("recorded", static_cast<std::int64_t>(health.recorded));
  writer.integer("dropped", static_cast<std::int64_t>(health.dropped));
  writer.integer("errors", static_cast<std::int64_t>(health.errors));
  writer.integer("queued", static_cast<std::int64_t>(health.queued));
  writer.integer("lag_ms", health.lag.count());
  writer.close();
  object.close();
  return out;
}

}  // namespace callgate::server
