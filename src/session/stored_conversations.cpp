#include "session/stored_conversations.h"

#include <utility>

#include "base/utf8.h"

namespace callgate::server {
namespace {

using store::AnswerState;
using store::Attempt;
using store::Session;
using store::SessionAnswer;
using Tables = store::Sessions::Tables;

// A client's own text for a column that holds Unicode.
std::string storable(std::string_view text) {
  std::string out;
  utf8::append_sanitized(out, text);
  for (char& c : out) {
    if (c == '\0') c = ' ';
  }
  return out;
}

store::UpstreamState to_state(const KeptAnswer& kept) {
  return {.chat = kept.chat, .answer = kept.parent, .told = to_hex(kept.told)};
}

SessionAnswer to_row(const KeptAnswer& kept, const std::string& upstream) {
  SessionAnswer row;
  row.upstream = upstream;
  row.where = to_state(kept);
  row.session = kept.session;
  row.version = kept.version;
  return row;
}

FoundAnswer to_found(const SessionAnswer& row) {
  FoundAnswer found;
  found.answer.chat = row.where.chat;
  found.answer.parent = row.where.answer;
  found.answer.told = from_hex(row.where.told);
  found.answer.session = row.session;
  found.answer.version = row.version;
  found.answer.name = row.name;
  found.continued = row.continued;
  found.running = row.state == AnswerState::running;
  return found;
}

SessionAnswer to_answer(const SessionTurn& turn) {
  SessionAnswer row = to_row(turn.kept, turn.owner.upstream);
  row.identity = to_hex(turn.cut ? turn.who.whole : follow(turn.who.whole, turn.answer));
  row.state = turn.cut ? AnswerState::cut : AnswerState::complete;
  if (turn.cut) {
    row.said = turn.answer.text;
    row.called = turn.answer.calls;
  }
  row.request = turn.request;
  return row;
}

Session to_session(const SessionTurn& turn) {
  Session session;
  session.id = turn.kept.session;
  session.key_name = turn.owner.key_name;
  session.upstream = turn.owner.upstream;
  session.model = turn.owner.model;
  session.name = storable(turn.owner.name);
  session.parent = turn.owner.parent;
  session.state = to_state(turn.kept);
  session.identity = to_hex(follow(turn.who.whole, turn.answer));
  const Identity opening = opening_of(turn.who, turn.answer);
  if (opening != Identity{}) session.opening = to_hex(opening);
  session.version = turn.kept.version;
  return session;
}

Attempt<void> without_value(const auto& outcome) {
  if (!outcome) return tl::unexpected(outcome.error());
  return {};
}

}  // namespace

void StoredConversations::set_store(store::Sessions* sessions, bool closed) {
  store_ = sessions;
  closed_ = closed;
}

std::optional<Error> StoredConversations::after_failure(Error error) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  if (!closed_) return std::nullopt;
  return error;
}

void StoredConversations::write(const std::string& key,
                                std::function<Attempt<void>(Tables&)> change) {
  if (store_ == nullptr) return;
  store_->submit(key, {.run = std::move(change), .done = {}, .patient = true});
}

net::Task<Result<std::optional<FoundAnswer>>> StoredConversations::find(
    net::Loop& loop, const ConversationIdentity& who, std::string_view session) {
  std::optional<Found> found = cache_.find(who, session);
  // What another gateway keeps may be the better one when a message follows this one.
  if (store_ == nullptr || who.answered == 0 || (found && !found->continued)) co_return found;
  std::string answer = to_hex(who.answer);
  const auto query = [answer, before = to_hex(who.before)](Tables& tables) {
    return tables.sessions.candidates(answer, before);
  };
  auto rows = co_await store_->ask(loop, std::move(answer), query);
  if (!rows) {
    auto error = after_failure(std::move(rows.error()));
    if (error) co_return tl::unexpected(std::move(*error));
    co_return found;
  }
  std::optional<Found> stored = choose(*rows, who, session);
  if (stored || !found || found->running) co_return stored ? stored : found;
  // It was deleted, here or by another gateway.
  cache_.drop(found->answer);
  co_return std::optional<Found>();
}

std::optional<FoundAnswer> StoredConversations::choose(const std::vector<SessionAnswer>& rows,
                                                       const ConversationIdentity& who,
                                                       std::string_view session) {
  const SessionAnswer* chosen = nullptr;
  for (const SessionAnswer& row : rows) {
    const CanonicalAnswer answer{.text = row.said, .calls = row.called};
    if (row.state == AnswerState::cut && !answer.begins_with(who.last)) continue;
    if (chosen == nullptr || (row.session == session && chosen->session != session)) chosen = &row;
  }
  if (chosen == nullptr) return std::nullopt;
  Found found = to_found(*chosen);
  // A turn that runs on another gateway does not report its end to us.
  if (!found.running) {
    CanonicalAnswer answer{.text = chosen->said, .calls = chosen->called};
    cache_.load(from_hex(chosen->identity), std::move(answer), chosen->state == AnswerState::cut,
                found);
  }
  return found;
}

net::Task<Result<std::optional<FoundAnswer>>> StoredConversations::find_opening(
    net::Loop& loop, const Identity& opening) {
  std::optional<Found> found;
  if (opening == Identity{}) co_return found;
  found = cache_.find_opening(opening);
  if (store_ == nullptr || (found && !found->continued)) co_return found;
  std::string key = to_hex(opening);
  const auto query = [key](Tables& tables) { return tables.sessions.find_opening(key); };
  auto row = co_await store_->ask(loop, key, query);
  if (!row) {
    auto error = after_failure(std::move(row.error()));
    if (error) co_return tl::unexpected(std::move(*error));
    co_return found;
  }
  if (*row) found = to_found(**row);
  co_return found;
}

net::Task<Result<std::optional<std::string>>> StoredConversations::find_name(net::Loop& loop,
                                                                             std::string session,
                                                                             std::string key_name) {
  std::optional<std::string> name = cache_.find_name(session);
  if (store_ == nullptr || name) co_return name;
  const auto query = [session](Tables& tables) { return tables.sessions.get(session); };
  auto found = co_await store_->ask(loop, session, query);
  if (!found) {
    auto error = after_failure(std::move(found.error()));
    if (error) co_return tl::unexpected(std::move(*error));
    co_return name;
  }
  if (*found && (*found)->key_name == key_name) name = (*found)->name;
  co_return name;
}

net::Task<Result<bool>> StoredConversations::follow(net::Loop& loop, Found& found,
                                                    std::string upstream) {
  KeptAnswer next = found.answer;
  ++next.version;
  if (store_ != nullptr) {
    const SessionAnswer row = to_row(found.answer, upstream);
    const auto query = [row](Tables& tables) { return tables.sessions.follow(row); };
    auto followed = co_await store_->ask(loop, row.session, query, true);
    if (!followed) {
      auto error = after_failure(std::move(followed.error()));
      if (error) co_return tl::unexpected(std::move(*error));
    } else if (!*followed) {
      cache_.drop(found.answer);
      co_return false;
    }
  }
  cache_.mark_continued(next);
  found.answer.version = next.version;
  co_return true;
}

void StoredConversations::unfollow(const KeptAnswer& kept, const std::string& upstream) {
  cache_.mark_continued(kept, false);
  write(kept.session,
        [row = to_row(kept, upstream)](Tables& tables) { return tables.sessions.unfollow(row); });
}

// One gateway alone need not tell itself what runs.
net::Task<> StoredConversations::begin(net::Loop& loop, SessionTurn turn) {
  cache_.begin(turn.who, turn.kept);
  if (store_ == nullptr || !store_->shared()) co_return;
  SessionAnswer row = to_answer(turn);
  row.identity = to_hex(turn.who.whole);
  row.state = AnswerState::running;
  const auto query = [row = std::move(row),
                      keep = store_->keep()](Tables& tables) -> Attempt<bool> {
    return tables.sessions.begin(row, keep).map([] { return true; });
  };
  auto stored = co_await store_->ask(loop, turn.kept.session, query, true);
  if (!stored) static_cast<void>(after_failure(std::move(stored.error())));
}

void StoredConversations::drop(const KeptAnswer& kept, const std::string& upstream) {
  cache_.drop(kept);
  write(kept.session, [upstream, where = to_state(kept)](Tables& tables) {
    return tables.sessions.drop(upstream, where);
  });
}

void StoredConversations::forget(const std::string& upstream, const std::string& chat) {
  cache_.forget(chat);
  write(chat, [upstream, chat](Tables& tables) { return tables.sessions.forget(upstream, chat); });
}

net::Task<> StoredConversations::remember(net::Loop& loop, SessionTurn turn) {
  KeptAnswer kept = turn.kept;
  kept.name = turn.owner.name;
  ++kept.version;
  cache_.remember(turn.who, turn.answer, turn.cut, kept);
  if (store_ == nullptr) co_return;
  const auto query = [session = to_session(turn), answer = to_answer(turn),
                      keep = store_->keep()](Tables& tables) {
    return tables.sessions.remember(session, answer, keep);
  };
  auto stored = co_await store_->ask(loop, turn.kept.session, query, true);
  if (!stored) {
    static_cast<void>(after_failure(std::move(stored.error())));
  } else if (!*stored) {
    drop(kept, turn.owner.upstream);  // the session was deleted, or another gateway moved it on
  }
}

void StoredConversations::remember_behind(SessionTurn turn) {
  KeptAnswer kept = turn.kept;
  kept.name = turn.owner.name;
  ++kept.version;
  cache_.remember(turn.who, turn.answer, turn.cut, kept);
  if (store_ == nullptr) return;
  write(turn.kept.session, [session = to_session(turn), answer = to_answer(turn),
                            keep = store_->keep()](Tables& tables) {
    return without_value(tables.sessions.remember(session, answer, keep));
  });
}

}  // namespace callgate::server
