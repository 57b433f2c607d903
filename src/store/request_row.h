// The columns of the table `request`: their order, and how a row is written and read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"
#include "store/request_log.h"

namespace callgate::store {

// Which row: the run, the number of the request within it, and where to look for it.
struct RowKey {
  std::int64_t run = 0;
  std::int64_t number = 0;  // from 1; 0 when the row is not known
  std::int64_t received_at = 0;

  std::int64_t seq() const { return (run << 40) + number; }
};

inline RowKey to_key(std::int64_t seq, std::int64_t received_at) {
  return {seq >> 40, seq & ((std::int64_t{1} << 40) - 1), received_at};
}

// Statements in SQL. Parameters are what the functions below append, in their order.
std::string insert_begun_sql(Engine engine, std::size_t rows);
std::string insert_whole_sql(Engine engine, std::size_t rows);
std::string update_sql();
// `seq` and the columns that read_row() reads, of the table named `r`.
std::string row_columns();

void append_begun(std::vector<Value>& values, const RequestRecord& record, const RowKey& key);
void append_whole(std::vector<Value>& values, const RequestRecord& record,
                  const RequestOutcome& outcome, const RowKey& key);
void append_update(std::vector<Value>& values, const RequestOutcome& outcome, const RowKey& key);
std::int64_t read_seq(const Rows::Row& row);
RequestRow read_row(const Rows::Row& row);

// `($1, $2), ($3, $4)`
std::string parameter_rows(std::size_t columns, std::size_t rows);

// By their names.
std::optional<RequestState> find_state(std::string_view name);
std::optional<FinishReason> find_finish_reason(std::string_view name);
std::optional<CallOutcome> find_call_outcome(std::string_view name);

}  // namespace callgate::store
