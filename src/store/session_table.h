// The tables of sessions: each call is one transaction on a connection that blocks. Writes say what
// they were decided on; when that is not so any more they change nothing and tell.
#pragma once

#include <chrono>

#include "store/database.h"
#include "store/session.h"

namespace callgate::store {

class SessionTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  explicit SessionTable(Database& database);

  // The answers that a conversation may go on from, best first: complete ones that are known by
  // `with_answer`, or else running and cut ones that are known by `before`.
  Attempt<std::vector<SessionAnswer>> candidates(std::string_view with_answer,
                                                 std::string_view before);
  // The last answer of the session that was used last of those that began so.
  Attempt<std::optional<SessionAnswer>> find_opening(std::string_view opening);

  // A message is about to follow that answer. False, and nothing is changed, when one does already,
  // or when the session has another version. Else the version is the next one.
  Attempt<bool> follow(const SessionAnswer& answer);
  // It did not.
  Attempt<void> unfollow(const SessionAnswer& answer);

  // An answer that is running.
  Attempt<void> begin(const SessionAnswer& answer, std::chrono::milliseconds keep);
  // The session's next answer. False, and nothing is changed, when the session has another version
  // than `session.version`; 0 makes a new one. Safe to repeat.
  Attempt<bool> remember(const Session& session, const SessionAnswer& answer,
                         std::chrono::milliseconds keep);
  Attempt<void> drop(std::string_view upstream, const UpstreamState& where);
  // All answers of a chat.
  Attempt<void> forget(std::string_view upstream, std::string_view chat);

  Attempt<std::optional<Session>> get(std::string_view id);
  Attempt<SessionPage> list(const SessionFilter& filter);
  // In the order in which they were given.
  Attempt<std::vector<SessionAnswer>> answers(std::string_view session, std::size_t limit);
  // False if it does not exist.
  Attempt<bool> erase(std::string_view id);
  // Removes some of what has expired; gives how many rows. Fewer than `limit`: that was all.
  Attempt<std::int64_t> sweep(std::size_t limit);

 private:
  Attempt<std::vector<SessionAnswer>> select_answers(std::string_view where,
                                                     std::span<const Value> values);
  // With the engine's clock for {now}.
  std::string sql(std::string_view text) const;

  Database& database_;
  std::string_view now_;
};

// The database's clock in Unix milliseconds, as an expression.
std::string_view now_expression(Engine engine);
// `text` with every {now} replaced by that expression.
std::string with_now(std::string_view text, std::string_view now);

}  // namespace callgate::store
