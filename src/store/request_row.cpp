#include "store/request_row.h"

#include <array>
#include <optional>
#include <string_view>

#include "chat/event_log.h"

namespace callgate::store {
namespace {

// Parameters are numbered in this order from 1, columns of a SELECT from 0.
constexpr std::array<std::string_view, 11> kRecordColumns = {
    "seq",   "id",       "run",     "received_at", "key_name",      "protocol",
    "model", "upstream", "dialect", "stream",      "client_address"};
// clang-format off
constexpr std::array<std::string_view, 20> kOutcomeColumns = {
    "state", "http_status", "finish_reason", "error_code", "error_message", "calls",
    "prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "cache_write_tokens",
    "reasoning_tokens", "bytes_in", "bytes_out", "frames", "repairs", "attempts",
    "first_byte_ms", "first_token_ms", "total_ms"};
// clang-format on
constexpr int kSeq = 1;
constexpr int kUpstream = 8;
constexpr int kDialect = 9;
constexpr int kNumberBits = 40;
constexpr int kFirstOutcome = static_cast<int>(kRecordColumns.size()) + 1;
constexpr int kColumns = static_cast<int>(kRecordColumns.size() + kOutcomeColumns.size());

constexpr std::array kStates = {RequestState::running, RequestState::completed,
                                RequestState::failed, RequestState::disconnected,
                                RequestState::interrupted};
constexpr std::array kReasons = {FinishReason::stop, FinishReason::tool_calls, FinishReason::length,
                                 FinishReason::content_filter, FinishReason::upstream_error};

std::string parameter(int number) { return "?" + std::to_string(number); }

void append_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

// `a = <prefix>a` or `a = ?n` for each outcome column, and what an outcome may correct of its
// record.
std::string assignments(bool from_excluded) {
  std::string list;
  int number = kFirstOutcome;
  for (const std::string_view column : kOutcomeColumns) {
    const std::string value = from_excluded ? "excluded." + std::string(column) : parameter(number);
    append_item(list, std::string(column) + " = " + value);
    ++number;
  }
  if (!from_excluded) {
    append_item(list, "upstream = coalesce(" + parameter(kUpstream) + ", upstream)");
    append_item(list, "dialect = coalesce(" + parameter(kDialect) + ", dialect)");
  }
  return list;
}

std::string column_list(bool whole) {
  std::string columns;
  for (const std::string_view column : kRecordColumns) append_item(columns, column);
  if (!whole) return columns;
  for (const std::string_view column : kOutcomeColumns) append_item(columns, column);
  return columns;
}

// `?1, ?2, ?3`
std::string parameter_list(int first, int count) {
  std::string parameters;
  for (int i = 0; i < count; ++i) append_item(parameters, parameter(first + i));
  return parameters;
}

std::int64_t to_seq(RowKey key) { return (key.run << kNumberBits) + key.number; }

void bind_text(Statement& statement, int number, std::string_view text) {
  if (text.empty()) {
    statement.bind_null(number);
  } else {
    statement.bind(number, text);
  }
}

void bind_optional(Statement& statement, int number, std::optional<std::int64_t> value) {
  if (value) {
    statement.bind(number, *value);
  } else {
    statement.bind_null(number);
  }
}

std::optional<std::int64_t> read_optional(const Statement& statement, int column) {
  if (statement.is_null(column)) return std::nullopt;
  return statement.integer(column);
}

template <class Enum, std::size_t size>
std::optional<Enum> find_named(const std::array<Enum, size>& values, std::string_view name) {
  for (const Enum value : values) {
    if (to_string(value) == name) return value;
  }
  return std::nullopt;
}

// `offset` is added to the number of each parameter.
void bind_record(Statement& statement, int offset, const RequestRecord& record, RowKey key) {
  int number = offset + kSeq;
  statement.bind(number++, to_seq(key));
  statement.bind(number++, std::string_view(record.id));
  statement.bind(number++, key.run);
  statement.bind(number++, record.received_at);
  bind_text(statement, number++, record.key_name);
  bind_text(statement, number++, record.protocol);
  bind_text(statement, number++, record.model);
  bind_text(statement, number++, record.upstream);
  bind_text(statement, number++, record.dialect);
  statement.bind(number++, std::int64_t{record.stream});
  bind_text(statement, number++, record.client_address);
}

void bind_outcome(Statement& statement, int offset, const RequestOutcome& outcome) {
  int number = offset + kFirstOutcome;
  statement.bind(number++, to_string(outcome.state));
  bind_optional(
      statement, number++,
      outcome.http_status ? std::optional<std::int64_t>(outcome.http_status) : std::nullopt);
  bind_text(statement, number++,
            outcome.finish_reason ? to_string(*outcome.finish_reason) : std::string_view());
  bind_text(statement, number++, outcome.error_code);
  bind_text(statement, number++, outcome.error_message);
  statement.bind(number++, outcome.calls);
  const auto token_count = [&](std::int64_t Usage::*count) {
    bind_optional(statement, number++,
                  outcome.usage ? std::optional((*outcome.usage).*count) : std::nullopt);
  };
  token_count(&Usage::prompt_tokens);
  token_count(&Usage::completion_tokens);
  token_count(&Usage::total_tokens);
  token_count(&Usage::cached_tokens);
  token_count(&Usage::cache_write_tokens);
  token_count(&Usage::reasoning_tokens);
  statement.bind(number++, outcome.bytes_in);
  statement.bind(number++, outcome.bytes_out);
  statement.bind(number++, outcome.frames);
  statement.bind(number++, outcome.repairs);
  statement.bind(number++, outcome.attempts);
  bind_optional(statement, number++, outcome.first_byte_ms);
  bind_optional(statement, number++, outcome.first_token_ms);
  statement.bind(number++, outcome.total_ms);
}

RequestOutcome read_outcome(const Statement& statement) {
  RequestOutcome outcome;
  int column = kFirstOutcome - 1;
  outcome.state = find_named(kStates, statement.text(column++)).value_or(RequestState::interrupted);
  outcome.http_status = static_cast<int>(statement.integer(column++));
  outcome.finish_reason = find_named(kReasons, statement.text(column++));
  outcome.error_code = statement.text(column++);
  outcome.error_message = statement.text(column++);
  outcome.calls = statement.integer(column++);
  if (!statement.is_null(column)) {
    outcome.usage = Usage{.prompt_tokens = statement.integer(column),
                          .completion_tokens = statement.integer(column + 1),
                          .total_tokens = statement.integer(column + 2),
                          .cached_tokens = statement.integer(column + 3),
                          .cache_write_tokens = statement.integer(column + 4),
                          .reasoning_tokens = statement.integer(column + 5)};
  }
  column += 6;
  outcome.bytes_in = statement.integer(column++);
  outcome.bytes_out = statement.integer(column++);
  outcome.frames = statement.integer(column++);
  outcome.repairs = statement.integer(column++);
  outcome.attempts = statement.integer(column++);
  outcome.first_byte_ms = read_optional(statement, column++);
  outcome.first_token_ms = read_optional(statement, column++);
  outcome.total_ms = statement.integer(column++);
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

std::string insert_begun_sql() {
  return "INSERT INTO request (" + column_list(false) + ", state) VALUES (" +
         parameter_list(kSeq, kFirstOutcome - 1) + ", 'running') ON CONFLICT (seq) DO NOTHING";
}

std::string insert_whole_sql(int rows) {
  std::string values;
  for (int row = 0; row < rows; ++row) {
    append_item(values, "(" + parameter_list(kSeq + row * kColumns, kColumns) + ")");
  }
  return "INSERT INTO request (" + column_list(true) + ") VALUES " + values +
         " ON CONFLICT (seq) DO UPDATE SET " + assignments(true);
}

std::string update_sql() {
  return "UPDATE request SET " + assignments(false) + " WHERE seq = " + parameter(kSeq);
}

std::string select_sql(std::string_view rest) {
  return "SELECT " + column_list(true) + " FROM request " + std::string(rest);
}

void bind_begun(Statement& statement, const RequestRecord& record, RowKey key) {
  bind_record(statement, 0, record, key);
}

void bind_whole(Statement& statement, int row, const RequestRecord& record,
                const RequestOutcome& outcome, RowKey key) {
  const int offset = row * kColumns;
  bind_record(statement, offset, record, key);
  if (!outcome.upstream.empty()) bind_text(statement, offset + kUpstream, outcome.upstream);
  if (!outcome.dialect.empty()) bind_text(statement, offset + kDialect, outcome.dialect);
  bind_outcome(statement, offset, outcome);
}

void bind_update(Statement& statement, const RequestOutcome& outcome, RowKey key) {
  statement.bind(kSeq, to_seq(key));
  bind_text(statement, kUpstream, outcome.upstream);
  bind_text(statement, kDialect, outcome.dialect);
  bind_outcome(statement, 0, outcome);
}

RequestRow read_row(const Statement& statement) {
  RequestRow row;
  int column = 1;
  row.record.id = statement.text(column++);
  row.run = statement.integer(column++);
  row.record.received_at = statement.integer(column++);
  row.record.key_name = statement.text(column++);
  row.record.protocol = statement.text(column++);
  row.record.model = statement.text(column++);
  row.record.upstream = statement.text(column++);
  row.record.dialect = statement.text(column++);
  row.record.stream = statement.integer(column++) != 0;
  row.record.client_address = statement.text(column++);
  row.outcome = read_outcome(statement);
  row.outcome.id = row.record.id;
  return row;
}

}  // namespace callgate::store
