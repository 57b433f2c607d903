#include "store/request_row.h"

#include <array>
#include <optional>
#include <string_view>

#include "chat/event_log.h"

namespace callgate::store {
namespace {

// clang-format off
constexpr std::array<std::string_view, 13> kRecordColumns = {
    "seq", "id", "run", "received_at", "key_name", "protocol", "model", "upstream", "dialect",
    "stream", "client_address", "session", "trace_id"};
constexpr std::array<std::string_view, 24> kOutcomeColumns = {
    "state", "http_status", "finish_reason", "error_code", "error_message", "calls",
    "prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "cache_write_tokens",
    "reasoning_tokens", "bytes_in", "bytes_out", "frames", "repairs", "attempts",
    "first_byte_ms", "first_token_ms", "total_ms", "cut", "repair_names", "missed_call", "cost"};
// clang-format on
// What an outcome may correct of its record.
constexpr std::array<std::string_view, 3> kCorrected = {"upstream", "dialect", "session"};

constexpr std::array kStates = {RequestState::running, RequestState::completed,
                                RequestState::failed, RequestState::disconnected,
                                RequestState::interrupted};
constexpr std::array kReasons = {FinishReason::stop, FinishReason::tool_calls, FinishReason::length,
                                 FinishReason::content_filter, FinishReason::upstream_error};
constexpr std::array kCallOutcomes = {CallOutcome::complete, CallOutcome::truncated,
                                      CallOutcome::malformed};

std::string parameter(std::size_t number) { return "$" + std::to_string(number); }

void append_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::string column_list(bool whole) {
  std::string columns;
  for (const std::string_view column : kRecordColumns) append_item(columns, column);
  if (!whole) return columns;
  for (const std::string_view column : kOutcomeColumns) append_item(columns, column);
  return columns;
}

// A partitioned table knows a row only together with its partition.
std::string conflict(Engine engine) {
  return engine == Engine::sqlite ? " ON CONFLICT (seq)" : " ON CONFLICT (received_at, seq)";
}

template <class Enum, std::size_t size>
std::optional<Enum> find_named(const std::array<Enum, size>& values, std::string_view name) {
  for (const Enum value : values) {
    if (to_string(value) == name) return value;
  }
  return std::nullopt;
}

void append_record(std::vector<Value>& values, const RequestRecord& record, const RowKey& key,
                   const RequestOutcome* outcome) {
  const auto corrected = [&](const std::string& known, std::string RequestOutcome::*better) {
    const bool replaced = outcome && !(outcome->*better).empty();
    return text_or_null(replaced ? outcome->*better : known);
  };
  values.emplace_back(key.seq());
  values.emplace_back(std::string_view(record.id));
  values.emplace_back(key.run);
  values.emplace_back(record.received_at);
  values.push_back(text_or_null(record.key_name));
  values.push_back(text_or_null(record.protocol));
  values.push_back(text_or_null(record.model));
  values.push_back(corrected(record.upstream, &RequestOutcome::upstream));
  values.push_back(corrected(record.dialect, &RequestOutcome::dialect));
  values.emplace_back(std::int64_t{record.stream});
  values.push_back(text_or_null(record.client_address));
  values.push_back(corrected(record.session, &RequestOutcome::session));
  values.push_back(text_or_null(record.trace_id));
}

void append_outcome(std::vector<Value>& values, const RequestOutcome& outcome) {
  values.emplace_back(to_string(outcome.state));
  values.push_back(outcome.http_status ? Value(std::int64_t{outcome.http_status}) : Value());
  values.push_back(outcome.finish_reason ? Value(to_string(*outcome.finish_reason)) : Value());
  values.push_back(text_or_null(outcome.error_code));
  values.push_back(text_or_null(outcome.error_message));
  values.emplace_back(outcome.calls);
  for (const auto count :
       {&Usage::prompt_tokens, &Usage::completion_tokens, &Usage::total_tokens,
        &Usage::cached_tokens, &Usage::cache_write_tokens, &Usage::reasoning_tokens}) {
    values.push_back(outcome.usage ? Value((*outcome.usage).*count) : Value());
  }
  values.emplace_back(outcome.bytes_in);
  values.emplace_back(outcome.bytes_out);
  values.emplace_back(outcome.frames);
  values.emplace_back(outcome.repairs);
  values.emplace_back(outcome.attempts);
  values.push_back(integer_or_null(outcome.first_byte_ms));
  values.push_back(integer_or_null(outcome.first_token_ms));
  values.emplace_back(outcome.total_ms);
  values.push_back(text_or_null(outcome.cut));
  values.push_back(text_or_null(outcome.repair_names));
  values.push_back(text_or_null(outcome.missed_call));
  values.push_back(integer_or_null(outcome.cost));
}

RequestOutcome read_outcome(const Rows::Row& row) {
  RequestOutcome outcome;
  std::size_t column = kRecordColumns.size();
  outcome.state = find_state(row.text(column++)).value_or(RequestState::interrupted);
  outcome.http_status = static_cast<int>(row.integer(column++));
  outcome.finish_reason = find_finish_reason(row.text(column++));
  outcome.error_code = row.text(column++);
  outcome.error_message = row.text(column++);
  outcome.calls = row.integer(column++);
  if (!row.is_null(column)) {
    outcome.usage = Usage{.prompt_tokens = row.integer(column),
                          .completion_tokens = row.integer(column + 1),
                          .total_tokens = row.integer(column + 2),
                          .cached_tokens = row.integer(column + 3),
                          .cache_write_tokens = row.integer(column + 4),
                          .reasoning_tokens = row.integer(column + 5)};
  }
  column += 6;
  outcome.bytes_in = row.integer(column++);
  outcome.bytes_out = row.integer(column++);
  outcome.frames = row.integer(column++);
  outcome.repairs = row.integer(column++);
  outcome.attempts = row.integer(column++);
  outcome.first_byte_ms = row.maybe_integer(column++);
  outcome.first_token_ms = row.maybe_integer(column++);
  outcome.total_ms = row.integer(column++);
  outcome.cut = row.text(column++);
  outcome.repair_names = row.text(column++);
  outcome.missed_call = row.text(column++);
  outcome.cost = row.maybe_integer(column++);
  return outcome;
}

}  // namespace

std::string_view to_string(RequestState state) {
  switch (state) {
    case RequestState::running:
      return "running";
    case RequestState::completed:
      return "completed";
    case RequestState::failed:
      return "failed";
    case RequestState::disconnected:
      return "disconnected";
    case RequestState::interrupted:
      return "interrupted";
  }
  return {};
}

std::optional<RequestState> find_state(std::string_view name) { return find_named(kStates, name); }

std::optional<FinishReason> find_finish_reason(std::string_view name) {
  return find_named(kReasons, name);
}

std::optional<CallOutcome> find_call_outcome(std::string_view name) {
  return find_named(kCallOutcomes, name);
}

std::string parameter_rows(std::size_t columns, std::size_t rows) {
  std::string list;
  std::size_t number = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string values;
    for (std::size_t column = 0; column < columns; ++column) {
      append_item(values, parameter(++number));
    }
    append_item(list, "(" + values + ")");
  }
  return list;
}

std::string insert_begun_sql(Engine engine, std::size_t rows) {
  return "INSERT INTO request (" + column_list(false) + ", state) VALUES " +
         parameter_rows(kRecordColumns.size() + 1, rows) + conflict(engine) + " DO NOTHING";
}

std::string insert_whole_sql(Engine engine, std::size_t rows) {
  std::string updates;
  for (const std::string_view column : kOutcomeColumns) {
    append_item(updates, std::string(column) + " = excluded." + std::string(column));
  }
  return "INSERT INTO request (" + column_list(true) + ") VALUES " +
         parameter_rows(kRecordColumns.size() + kOutcomeColumns.size(), rows) + conflict(engine) +
         " DO UPDATE SET " + updates;
}

std::string update_sql() {
  std::string updates;
  std::size_t number = 2;
  for (const std::string_view column : kCorrected) {
    const std::string name(column);
    append_item(updates, name + " = coalesce(" + parameter(++number) + ", " + name + ")");
  }
  for (const std::string_view column : kOutcomeColumns) {
    append_item(updates, std::string(column) + " = " + parameter(++number));
  }
  return "UPDATE request SET " + updates + " WHERE seq = $1 AND received_at = $2";
}

std::string row_columns() {
  std::string columns;
  for (const std::string_view column : kRecordColumns) {
    append_item(columns, "r." + std::string(column));
  }
  for (const std::string_view column : kOutcomeColumns) {
    append_item(columns, "r." + std::string(column));
  }
  return columns + ", r.resolved_at, r.resolution";
}

void append_begun(std::vector<Value>& values, const RequestRecord& record, const RowKey& key) {
  append_record(values, record, key, nullptr);
  values.emplace_back(to_string(RequestState::running));
}

void append_whole(std::vector<Value>& values, const RequestRecord& record,
                  const RequestOutcome& outcome, const RowKey& key) {
  append_record(values, record, key, &outcome);
  append_outcome(values, outcome);
}

void append_update(std::vector<Value>& values, const RequestOutcome& outcome, const RowKey& key) {
  values.emplace_back(key.seq());
  values.emplace_back(key.received_at);
  values.push_back(text_or_null(outcome.upstream));
  values.push_back(text_or_null(outcome.dialect));
  values.push_back(text_or_null(outcome.session));
  append_outcome(values, outcome);
}

std::int64_t read_seq(const Rows::Row& row) { return row.integer(0); }

RequestRow read_row(const Rows::Row& row) {
  RequestRow read;
  std::size_t column = 1;
  read.record.id = row.text(column++);
  read.run = row.integer(column++);
  read.record.received_at = row.integer(column++);
  read.record.key_name = row.text(column++);
  read.record.protocol = row.text(column++);
  read.record.model = row.text(column++);
  read.record.upstream = row.text(column++);
  read.record.dialect = row.text(column++);
  read.record.stream = row.integer(column++) != 0;
  read.record.client_address = row.text(column++);
  read.record.session = row.text(column++);
  read.record.trace_id = row.text(column++);
  read.outcome = read_outcome(row);
  read.outcome.id = read.record.id;
  read.outcome.key_name = read.record.key_name;
  constexpr std::size_t kResolved = kRecordColumns.size() + kOutcomeColumns.size();
  read.resolved_at = row.maybe_integer(kResolved);
  read.resolution = row.text(kResolved + 1);
  return read;
}

}  // namespace callgate::store
