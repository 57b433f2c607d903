#include "store/session_table.h"

#include <array>
#include <charconv>

namespace callgate::store {
namespace {

constexpr std::string_view kAnswerColumns =
    "SELECT a.upstream, a.chat, a.answer, a.told, a.session, a.identity, a.state, a.continued, "
    "a.said, a.called, a.request, a.created_at, coalesce(s.version, 0), coalesce(s.name, '') "
    "FROM session_answer a LEFT JOIN session s ON s.id = a.session ";
constexpr std::string_view kSessionColumns =
    "SELECT id, key_name, upstream, model, name, parent, chat, answer, told, identity, opening, "
    "turns, created_at, used_at, expires_at, version FROM session ";
constexpr std::size_t kMostCandidates = 64;

AnswerState to_state(std::string_view text) {
  if (text == "running") return AnswerState::running;
  return text == "cut" ? AnswerState::cut : AnswerState::complete;
}

SessionAnswer to_answer(const Rows::Row& row) {
  SessionAnswer answer;
  answer.upstream = row.text(0);
  answer.where = {.chat = row.text(1), .answer = row.text(2), .told = row.text(3)};
  answer.session = row.text(4);
  answer.identity = row.text(5);
  answer.state = to_state(row.text(6));
  answer.continued = row.integer(7) != 0;
  answer.said = row.text(8);
  answer.called = row.text(9);
  answer.request = row.text(10);
  answer.created_at = row.integer(11);
  answer.version = row.integer(12);
  answer.name = row.text(13);
  return answer;
}

Session to_session(const Rows::Row& row) {
  Session session;
  session.id = row.text(0);
  session.key_name = row.text(1);
  session.upstream = row.text(2);
  session.model = row.text(3);
  session.name = row.text(4);
  session.parent = row.text(5);
  session.state = {.chat = row.text(6), .answer = row.text(7), .told = row.text(8)};
  session.identity = row.text(9);
  session.opening = row.text(10);
  session.turns = row.integer(11);
  session.created_at = row.integer(12);
  session.used_at = row.integer(13);
  session.expires_at = row.integer(14);
  session.version = row.integer(15);
  return session;
}

Value to_value(std::string_view value) { return value; }

// Where a page ended: `TIME-ID` of its last row.
struct Cursor {
  std::int64_t created_at = INT64_MAX;
  std::string_view id;
};

Attempt<Cursor> read_place(std::string_view given) {
  Cursor cursor;
  if (given.empty()) return cursor;
  const auto [end, failed] =
      std::from_chars(given.data(), given.data() + given.size(), cursor.created_at);
  const std::size_t used = static_cast<std::size_t>(end - given.data());
  if (failed != std::errc() || used >= given.size() || given[used] != '-') {
    return fault(FaultKind::bad_row, "cursor: not one that a page gave");
  }
  cursor.id = given.substr(used + 1);
  return cursor;
}

}  // namespace

std::string_view to_string(AnswerState state) {
  switch (state) {
    case AnswerState::complete:
      return "complete";
    case AnswerState::running:
      return "running";
    case AnswerState::cut:
      return "cut";
  }
  return {};
}

std::string_view now_expression(Engine engine) {
  switch (engine) {
    case Engine::sqlite:
      return "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
    case Engine::postgresql:
      return "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint)";
  }
  return {};
}

std::string with_now(std::string_view text, std::string_view now) {
  constexpr std::string_view kNow = "{now}";
  std::string out;
  for (;;) {
    const std::size_t at = text.find(kNow);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    out.append(now);
    text.remove_prefix(at + kNow.size());
  }
}

SessionTable::SessionTable(Database& database)
    : database_(database), now_(now_expression(database.engine())) {}

std::string SessionTable::sql(std::string_view text) const { return with_now(text, now_); }

Attempt<std::vector<SessionAnswer>> SessionTable::select_answers(std::string_view where,
                                                                 std::span<const Value> values) {
  const Attempt<Rows> rows = database_.query(std::string(kAnswerColumns) + sql(where), values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<SessionAnswer> answers;
  for (std::size_t i = 0; i < rows->size(); ++i) answers.push_back(to_answer((*rows)[i]));
  return answers;
}

Attempt<std::vector<SessionAnswer>> SessionTable::candidates(std::string_view with_answer,
                                                             std::string_view before) {
  const std::string order =
      "ORDER BY a.continued, a.created_at DESC LIMIT " + std::to_string(kMostCandidates);
  const std::array whole = {to_value(with_answer)};
  auto found = select_answers(
      "WHERE a.identity = $1 AND a.state = 'complete' AND a.expires_at > {now} " + order, whole);
  if (!found || !found->empty()) return found;
  const std::array part = {to_value(before)};
  return select_answers(
      "WHERE a.identity = $1 AND a.state <> 'complete' AND a.expires_at > {now} " + order, part);
}

Attempt<std::optional<SessionAnswer>> SessionTable::find_opening(std::string_view opening) {
  const std::array values = {to_value(opening)};
  auto found = select_answers(
      "WHERE s.opening = $1 AND a.upstream = s.upstream AND a.chat = s.chat AND "
      "a.answer = s.answer AND a.expires_at > {now} ORDER BY s.used_at DESC LIMIT 1",
      values);
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

// The answer is marked first: a second writer waits there and then finds it followed.
Attempt<bool> SessionTable::follow(const SessionAnswer& answer) {
  const std::array values = {to_value(answer.upstream), to_value(answer.where.chat),
                             to_value(answer.where.answer), to_value(answer.session),
                             Value(answer.version)};
  constexpr std::string_view kMark =
      "UPDATE session_answer SET continued = 1 WHERE upstream = $1 AND chat = $2 AND answer = $3 "
      "AND continued = 0 AND state <> 'running' AND EXISTS (SELECT 1 FROM session WHERE id = $4 "
      "AND version = $5)";
  const std::string next = sql(
      "UPDATE session SET version = version + 1, used_at = {now} WHERE id = $4 AND version = $5 "
      "AND EXISTS (SELECT 1 FROM session_answer a WHERE a.upstream = $1 AND a.chat = $2 AND "
      "a.answer = $3 AND a.continued = 1 AND a.state <> 'running')");
  const std::array commands = {Command{kMark, values}, Command{next, values}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return (*changed)[0] == 1 && (*changed)[1] == 1;
}

Attempt<void> SessionTable::unfollow(const SessionAnswer& answer) {
  const std::array values = {to_value(answer.upstream), to_value(answer.where.chat),
                             to_value(answer.where.answer)};
  const auto changed = database_.change(
      "UPDATE session_answer SET continued = 0 WHERE upstream = $1 AND chat = $2 AND answer = $3",
      values);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Attempt<void> SessionTable::begin(const SessionAnswer& answer, std::chrono::milliseconds keep) {
  const std::array values = {
      to_value(answer.upstream), to_value(answer.where.chat), to_value(answer.where.answer),
      to_value(answer.session),  to_value(answer.identity),   to_value(answer.where.told),
      to_value(answer.request),  Value(keep.count()),         Value(Blob{})};
  const auto changed = database_.change(
      sql("INSERT INTO session_answer (upstream, chat, answer, session, identity, state, "
          "continued, told, said, called, request, created_at, expires_at) VALUES ($1, $2, $3, $4, "
          "$5, 'running', 0, $6, $9, $9, $7, {now}, {now} + CAST($8 AS bigint)) "
          "ON CONFLICT (upstream, chat, answer) DO UPDATE SET session = excluded.session, "
          "identity = excluded.identity, state = excluded.state, continued = 0, "
          "told = excluded.told, request = excluded.request, expires_at = excluded.expires_at"),
      values);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Attempt<bool> SessionTable::remember(const Session& session, const SessionAnswer& answer,
                                     std::chrono::milliseconds keep) {
  const std::array of_session = {
      to_value(session.id),         to_value(session.key_name),     to_value(session.upstream),
      to_value(session.model),      to_value(session.name),         to_value(session.parent),
      to_value(session.state.chat), to_value(session.state.answer), to_value(session.state.told),
      to_value(session.identity),   to_value(session.opening),      Value(keep.count()),
      Value(session.version)};
  // Both take the same values, so that both name every one of them.
  const std::string made = sql(
      "INSERT INTO session (id, key_name, upstream, model, name, parent, chat, answer, told, "
      "identity, opening, turns, created_at, used_at, expires_at, version) VALUES ($1, $2, $3, $4, "
      "$5, $6, $7, $8, $9, $10, $11, 1, {now}, {now}, {now} + CAST($12 AS bigint), "
      "CAST($13 AS bigint) + 1) ON CONFLICT (id) DO UPDATE SET chat = excluded.chat, "
      "answer = excluded.answer, told = excluded.told, identity = excluded.identity, "
      "turns = session.turns + 1, used_at = excluded.used_at, expires_at = excluded.expires_at, "
      "version = 1");
  const std::string moved =
      sql("UPDATE session SET key_name = $2, upstream = $3, model = $4, name = $5, parent = $6, "
          "chat = $7, answer = $8, told = $9, identity = $10, opening = $11, turns = turns + 1, "
          "used_at = {now}, expires_at = {now} + CAST($12 AS bigint), version = version + 1 "
          "WHERE id = $1 AND version = CAST($13 AS bigint)");
  const std::array of_answer = {
      to_value(answer.upstream),   to_value(answer.where.chat), to_value(answer.where.answer),
      to_value(answer.session),    to_value(answer.identity),   to_value(to_string(answer.state)),
      to_value(answer.where.told), Value(Blob{answer.said}),    Value(Blob{answer.called}),
      to_value(answer.request),    Value(keep.count()),         Value(session.version + 1)};
  const std::string kept = sql(
      "INSERT INTO session_answer (upstream, chat, answer, session, identity, state, continued, "
      "told, said, called, request, created_at, expires_at) SELECT CAST($1 AS text), "
      "CAST($2 AS text), CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), CAST($6 AS text), "
      "0, CAST($7 AS text), $8, $9, CAST($10 AS text), {now}, {now} + CAST($11 AS bigint) "
      "WHERE EXISTS (SELECT 1 FROM session WHERE id = $4 AND answer = $3 AND "
      "version = CAST($12 AS bigint)) "
      "ON CONFLICT (upstream, chat, answer) DO UPDATE SET session = excluded.session, "
      "identity = excluded.identity, state = excluded.state, continued = 0, "
      "told = excluded.told, said = excluded.said, called = excluded.called, "
      "request = excluded.request, expires_at = excluded.expires_at");
  const std::array commands = {Command{session.version == 0 ? made : moved, of_session},
                               Command{kept, of_answer}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  // An earlier try may have succeeded without a reply: then the answer is there.
  return (*changed)[1] == 1;
}

Attempt<void> SessionTable::drop(std::string_view upstream, const UpstreamState& where) {
  const std::array values = {to_value(upstream), to_value(where.chat), to_value(where.answer)};
  const auto changed = database_.change(
      "DELETE FROM session_answer WHERE upstream = $1 AND chat = $2 AND answer = $3", values);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Attempt<void> SessionTable::forget(std::string_view upstream, std::string_view chat) {
  const std::array values = {to_value(upstream), to_value(chat)};
  const auto changed =
      database_.change("DELETE FROM session_answer WHERE upstream = $1 AND chat = $2", values);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Attempt<std::optional<Session>> SessionTable::get(std::string_view id) {
  const std::array values = {to_value(id)};
  const Attempt<Rows> rows = database_.query(
      std::string(kSessionColumns) + sql("WHERE id = $1 AND expires_at > {now}"), values);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  return to_session((*rows)[0]);
}

Attempt<SessionPage> SessionTable::list(const SessionFilter& filter) {
  const Attempt<Cursor> cursor = read_place(filter.cursor);
  if (!cursor) return tl::unexpected(cursor.error());
  std::vector<Value> values = {Value(cursor->created_at), to_value(cursor->id),
                               Value(static_cast<std::int64_t>(filter.limit) + 1)};
  std::string where = sql("WHERE expires_at > {now} AND (created_at, id) < ($1, $2)");
  const auto also = [&](std::string_view column, const std::string& value) {
    if (value.empty()) return;
    values.push_back(to_value(value));
    where.append(" AND ").append(column).append(" = $").append(std::to_string(values.size()));
  };
  also("model", filter.model);
  also("key_name", filter.key_name);
  also("upstream", filter.upstream);
  const Attempt<Rows> rows = database_.query(
      std::string(kSessionColumns) + where + " ORDER BY created_at DESC, id DESC LIMIT $3", values);
  if (!rows) return tl::unexpected(rows.error());
  SessionPage page;
  for (std::size_t i = 0; i < rows->size() && i < filter.limit; ++i) {
    page.sessions.push_back(to_session((*rows)[i]));
  }
  if (rows->size() > filter.limit && !page.sessions.empty()) {
    const Session& last = page.sessions.back();
    page.cursor = std::to_string(last.created_at) + "-" + last.id;
  }
  return page;
}

Attempt<std::vector<SessionAnswer>> SessionTable::answers(std::string_view session,
                                                          std::size_t limit) {
  const std::array values = {to_value(session), Value(static_cast<std::int64_t>(limit))};
  return select_answers("WHERE a.session = $1 ORDER BY a.created_at, a.answer LIMIT $2", values);
}

Attempt<bool> SessionTable::erase(std::string_view id) {
  const std::array values = {to_value(id)};
  const std::array commands = {Command{"DELETE FROM session WHERE id = $1", values},
                               Command{"DELETE FROM session_answer WHERE session = $1", values}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return changed->front() == 1;
}

Attempt<std::int64_t> SessionTable::sweep(std::size_t limit) {
  const std::array values = {Value(static_cast<std::int64_t>(limit))};
  const std::string sessions =
      sql("DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at <= {now} "
          "ORDER BY expires_at LIMIT $1)");
  const std::string answers = sql(
      "DELETE FROM session_answer WHERE (upstream, chat, answer) IN (SELECT upstream, chat, answer "
      "FROM session_answer WHERE expires_at <= {now} ORDER BY expires_at LIMIT $1)");
  const std::array commands = {Command{sessions, values}, Command{answers, values}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return std::max(changed->front(), changed->back());
}

}  // namespace callgate::store
