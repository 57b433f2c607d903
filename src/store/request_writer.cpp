#include "store/request_writer.h"

#include <algorithm>
#include <optional>

#include "chat/event_log.h"
#include "store/request_row.h"
#include "store/usage_hours.h"

namespace callgate::store {
namespace {

// Rows of one INSERT: more gain nothing, one alone costs a third more.
constexpr std::size_t kRowsTogether = 16;

std::string insert_sql(std::string_view head, std::size_t columns, std::size_t rows,
                       std::string_view tail) {
  return std::string(head) + " VALUES " + parameter_rows(columns, rows) + std::string(tail);
}

}  // namespace

RequestWriter::RequestWriter(Engine engine) : update_(update_sql()) {
  const auto insert = [](std::string_view head, std::size_t columns, std::string_view tail) {
    return Insert{.many = insert_sql(head, columns, kRowsTogether, tail),
                  .one = insert_sql(head, columns, 1, tail),
                  .columns = columns};
  };
  begun_ = {.many = insert_begun_sql(engine, kRowsTogether), .one = insert_begun_sql(engine, 1)};
  whole_ = {.many = insert_whole_sql(engine, kRowsTogether), .one = insert_whole_sql(engine, 1)};
  call_ = insert(
      "INSERT INTO call (seq, number, received_at, id, name, outcome, repeats, round, "
      "is_error, duration_ms, result_bytes, result)",
      12, " ON CONFLICT DO NOTHING");
  content_ =
      insert("INSERT INTO content (place, received_at, codec, body)", 4, " ON CONFLICT DO NOTHING");
  waiting_ = insert("INSERT INTO search_waiting (seq, received_at)", 2, " ON CONFLICT DO NOTHING");
  sum_again_ = kSumAgainSql;
  mark_ =
      "INSERT INTO journal (id, replayed) VALUES ($1, $2)"
      " ON CONFLICT (id) DO UPDATE SET replayed = excluded.replayed";
}

Attempt<void> RequestWriter::write(Database& database, std::span<Write> writes,
                                   const JournalMark* mark) {
  forget_plan();
  for (Write& write : writes) plan(write);
  finish_plan();
  if (mark) plan_mark(*mark, writes);
  const Attempt<void> written = perform(database);
  if (written || written.error().kind != FaultKind::bad_row) return written;
  return write_one_by_one(database, writes, mark);
}

void RequestWriter::forget_plan() {
  values_.clear();
  planned_.clear();
  updates_.clear();
  bodies_.clear();
  for (Insert* insert : {&whole_, &begun_, &call_, &content_, &waiting_}) insert->values.clear();
}

void RequestWriter::plan(Write& write) {
  write.refused = write.key.number == 0;
  if (write.refused) return;
  if (!write.record) {
    const std::size_t first = values_.size();
    append_update(values_, *write.outcome, write.key);
    updates_.push_back({&update_, first, values_.size() - first, &write});
  } else if (!write.outcome) {
    append_begun(begun_.values, *write.record, write.key);
    if (begun_.columns == 0) begun_.columns = begun_.values.size();
  } else {
    append_whole(whole_.values, *write.record, *write.outcome, write.key);
    if (whole_.columns == 0) whole_.columns = whole_.values.size();
  }
  plan_children(write);
}

void RequestWriter::plan_children(const Write& write) {
  plan_content(write);
  if (!write.outcome) return;
  plan_calls(write);
  if (write.outcome->search.empty()) return;
  waiting_.values.emplace_back(write.key.seq());
  waiting_.values.emplace_back(write.key.received_at);
}

void RequestWriter::plan_calls(const Write& write) {
  const std::vector<CallRow>& calls = write.outcome->call_rows;
  names_.clear();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool repeats = !names_.insert(calls[i].name).second;
    call_.values.emplace_back(write.key.seq());
    call_.values.emplace_back(static_cast<std::int64_t>(i));
    call_.values.emplace_back(write.key.received_at);
    call_.values.push_back(text_or_null(calls[i].id));
    call_.values.emplace_back(std::string_view(calls[i].name));
    call_.values.emplace_back(to_string(calls[i].outcome));
    call_.values.emplace_back(std::int64_t{repeats});
    plan_result(calls[i].result);
  }
}

void RequestWriter::plan_result(const std::optional<CallResult>& result) {
  if (!result) {
    call_.values.resize(call_.values.size() + 5);
    return;
  }
  call_.values.emplace_back(result->round);
  call_.values.emplace_back(std::int64_t{result->is_error});
  call_.values.emplace_back(result->duration_ms);
  call_.values.emplace_back(result->bytes);
  call_.values.push_back(text_or_null(result->text));
}

// A whole row has a place of its own: a replayed journal may bring one whose beginning is there already.
void RequestWriter::plan_content(const Write& write) {
  ContentParts<std::string_view> parts;
  if (write.record) parts[0] = write.record->received;
  if (write.outcome) {
    const RequestOutcome& outcome = *write.outcome;
    parts = {parts[0], outcome.sent, outcome.response, outcome.events, outcome.search};
  }
  if (std::all_of(parts.begin(), parts.end(), [](auto part) { return part.empty(); })) return;
  const int part = !write.outcome ? 0 : !write.record ? 1 : 3;
  ContentEncoder::Encoded encoded = encoder_.join(parts);
  content_.values.emplace_back(write.key.seq() * 4 + part);
  content_.values.emplace_back(write.key.received_at);
  content_.values.emplace_back(static_cast<std::int64_t>(encoded.codec));
  content_.values.emplace_back(Blob{bodies_.emplace_back(std::move(encoded.bytes))});
}

// A replayed journal may have a row and its update in one batch.
void RequestWriter::finish_plan() {
  plan_inserts(whole_);
  plan_inserts(begun_);
  planned_.insert(planned_.end(), updates_.begin(), updates_.end());
  for (Insert* insert : {&call_, &content_, &waiting_}) plan_inserts(*insert);
}

void RequestWriter::plan_inserts(Insert& insert) {
  if (insert.values.empty()) return;
  std::size_t rows = insert.values.size() / insert.columns;
  std::size_t first = values_.size();
  values_.insert(values_.end(), insert.values.begin(), insert.values.end());
  while (rows > 0) {
    const std::size_t together = rows >= kRowsTogether ? kRowsTogether : 1;
    const std::size_t count = together * insert.columns;
    planned_.push_back({together == 1 ? &insert.one : &insert.many, first, count, nullptr});
    first += count;
    rows -= together;
  }
}

// What a journal brings may be older than hours that were summed already.
void RequestWriter::plan_mark(const JournalMark& mark, std::span<const Write> writes) {
  std::optional<std::int64_t> earliest;
  for (const Write& write : writes) {
    earliest = std::min(earliest.value_or(write.key.received_at), write.key.received_at);
  }
  if (earliest) {
    planned_.push_back({&sum_again_, values_.size(), 1, nullptr});
    values_.emplace_back(*earliest);
  }
  planned_.push_back({&mark_, values_.size(), 2, nullptr});
  values_.emplace_back(std::string_view(mark.journal));
  values_.emplace_back(mark.replayed);
}

Attempt<void> RequestWriter::perform(Database& database) {
  commands_.clear();
  for (const Planned& planned : planned_) {
    commands_.push_back({*planned.sql, std::span(values_).subspan(planned.first, planned.count)});
  }
  if (commands_.empty()) return {};
  const Attempt<std::vector<std::int64_t>> changes = database.batch(commands_);
  if (!changes) return tl::unexpected(changes.error());
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    if (planned_[i].updated) planned_[i].updated->refused = (*changes)[i] == 0;
  }
  return {};
}

// Rare, so it may cost a round trip for each statement.
Attempt<void> RequestWriter::write_one_by_one(Database& database, std::span<Write> writes,
                                              const JournalMark* mark) {
  Attempt<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  for (Write& write : writes) {
    forget_plan();
    plan(write);
    finish_plan();
    Attempt<void> written = database.run("SAVEPOINT one");
    if (written) written = perform_within(database);
    if (!written && written.error().kind == FaultKind::bad_row) {
      write.refused = true;
      written = database.run("ROLLBACK TO SAVEPOINT one");
    }
    if (written) written = database.run("RELEASE SAVEPOINT one");
    if (!written) return written;
  }
  forget_plan();
  if (mark) plan_mark(*mark, writes);
  const Attempt<void> marked = perform_within(database);
  if (!marked) return marked;
  return transaction->commit();
}

Attempt<void> RequestWriter::perform_within(Database& database) {
  for (const Planned& planned : planned_) {
    const Attempt<std::int64_t> changed =
        database.change(*planned.sql, std::span(values_).subspan(planned.first, planned.count));
    if (!changed) return tl::unexpected(changed.error());
    if (planned.updated) planned.updated->refused = *changed == 0;
  }
  return {};
}

}  // namespace callgate::store
