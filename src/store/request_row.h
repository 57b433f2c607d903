// The columns of the table `request`: their order, and how each is bound and read.
#pragma once

#include <cstdint>
#include <string>

#include "store/request_log.h"
#include "store/sqlite.h"

namespace callgate::store {

// Which row: the run, and the number of the request within it.
struct RowKey {
  std::int64_t run = 0;
  std::int64_t number = 0;
};

// Statements in SQL. Parameter numbers are those that the bind functions use.
std::string insert_begun_sql();
std::string insert_whole_sql(int rows);
std::string update_sql();
std::string select_sql(std::string_view rest);

// Text is borrowed until the statement is reset. `row` counts from 0 within one statement.
void bind_begun(Statement& statement, const RequestRecord& record, RowKey key);
void bind_whole(Statement& statement, int row, const RequestRecord& record,
                const RequestOutcome& outcome, RowKey key);
void bind_update(Statement& statement, const RequestOutcome& outcome, RowKey key);
RequestRow read_row(const Statement& statement);

}  // namespace callgate::store
