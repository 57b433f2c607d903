#include "store/rooms/room_table.h"

#include <algorithm>
#include <array>

#include "store/session_table.h"

namespace callgate::store {
namespace {

Value room_text(std::string_view value) { return value; }

// An owner that is heard of every second counts as dead when it has less than this left of its time: so a room waits less
// than 5 s for its next owner. Every write checks the lease, so nothing breaks when it was alive.
constexpr std::string_view kSlack = "1000";
// Between the numbers of two owners, should the database's clock have been set back.
constexpr std::int64_t kSeqGap = 1'000'000;

}  // namespace

RoomTable::RoomTable(Database& database, std::string node)
    : database_(database), node_(std::move(node)), now_(now_expression(database.engine())) {}

std::string RoomTable::sql(std::string_view text) const { return with_now(text, now_); }

Attempt<RoomClaim> RoomTable::claim(std::string_view room, std::string_view holder) {
  const std::array values = {room_text(room), room_text(node_), room_text(holder)};
  const auto taken = database_.change(
      sql("INSERT INTO lease (name, node, holder) SELECT CAST($1 AS text), CAST($2 AS text), "
          "CAST($3 AS text) WHERE EXISTS (SELECT 1 FROM node WHERE id = $2 AND alive_to > {now}) "
          "ON CONFLICT (name) DO UPDATE SET node = excluded.node, holder = excluded.holder "
          "WHERE lease.node = excluded.node OR NOT EXISTS (SELECT 1 FROM node n "
          "WHERE n.id = lease.node AND n.alive_to > {now} + " +
          std::string(kSlack) + ")"),
      values);
  if (!taken) return tl::unexpected(taken.error());
  RoomClaim claim{.mine = *taken == 1, .first_seq = 0, .messages = {}, .owner = {}};
  const std::array name = {room_text(room)};
  if (!claim.mine) {
    const auto rows = database_.query(
        "SELECT n.id, n.address, n.token FROM lease l JOIN node n ON n.id = l.node "
        "WHERE l.name = $1",
        name);
    if (!rows) return tl::unexpected(rows.error());
    if (!rows->empty()) {
      claim.owner = {(*rows)[0].text(0), (*rows)[0].text(1), (*rows)[0].text(2)};
    }
    return claim;
  }
  auto messages = load(room);
  if (!messages) return tl::unexpected(messages.error());
  claim.messages = std::move(*messages);
  const auto now = database_.integer(sql("SELECT {now} * 1000"));
  if (!now) return tl::unexpected(now.error());
  claim.first_seq = *now;
  for (const RoomMessage& message : claim.messages) {
    claim.first_seq = std::max(claim.first_seq, message.end_seq + kSeqGap);
  }
  return claim;
}

Attempt<std::vector<RoomMessage>> RoomTable::load(std::string_view room) {
  const std::array name = {room_text(room)};
  const auto rows = database_.query(
      "SELECT id, content, body, peer, stream, end_seq, answer FROM room_message "
      "WHERE room = $1 ORDER BY place",
      name);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RoomMessage> messages;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    messages.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4),
                        row.integer(5), row.text(6)});
  }
  return messages;
}

Attempt<std::vector<std::string>> RoomTable::held() {
  const std::array values = {room_text(node_)};
  const auto rows =
      database_.query("SELECT name FROM lease WHERE node = $1 AND name LIKE 'room:%'", values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows->size(); ++i) names.push_back((*rows)[i].text(0));
  return names;
}

Attempt<std::vector<RoomPeer>> RoomTable::others() {
  const std::array values = {room_text(node_)};
  const auto rows = database_.query(
      sql("SELECT id, address, token FROM node WHERE id <> $1 AND address <> '' AND "
          "alive_to > {now} ORDER BY id"),
      values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RoomPeer> peers;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    peers.push_back({(*rows)[i].text(0), (*rows)[i].text(1), (*rows)[i].text(2)});
  }
  return peers;
}

// The lease is locked while the change is made: an owner that comes after it reads what was written, or the lease is gone.
Attempt<bool> RoomTable::write(std::string_view change, std::span<const Value> values) {
  const auto rows = database_.query(
      sql("WITH held AS (SELECT 1 FROM lease WHERE name = $1 AND node = $2 AND holder = $3 FOR "
          "SHARE), changed AS (" +
          std::string(change) + ") SELECT (SELECT count(*) FROM held)"),
      values);
  if (!rows) return tl::unexpected(rows.error());
  return (*rows)[0].integer(0) == 1;
}

Attempt<bool> RoomTable::add(std::string_view room, std::string_view holder,
                             const RoomMessage& message) {
  const std::array values = {
      room_text(room),        room_text(node_),           room_text(holder),
      room_text(message.id),  room_text(message.content), room_text(message.body),
      room_text(message.peer)};
  return write(
      "INSERT INTO room_message (room, id, content, body, peer, stream, end_seq, answer, said_at) "
      "SELECT CAST($1 AS text), CAST($4 AS text), CAST($5 AS text), CAST($6 AS text), CAST($7 AS "
      "text), '', 0, '', {now} FROM held ON CONFLICT (room, id) DO NOTHING RETURNING 1",
      values);
}

Attempt<bool> RoomTable::begin(std::string_view room, std::string_view holder, std::string_view id,
                               std::string_view stream) {
  const std::array values = {room_text(room), room_text(node_), room_text(holder), room_text(id),
                             room_text(stream)};
  return write(
      "UPDATE room_message SET stream = CAST($5 AS text), body = '' WHERE room = $1 AND id = $4 "
      "AND EXISTS (SELECT 1 FROM held) RETURNING 1",
      values);
}

Attempt<bool> RoomTable::end(std::string_view room, std::string_view holder,
                             const RoomMessage& message, std::int64_t keep) {
  const std::array values = {room_text(room),        room_text(node_),
                             room_text(holder),      room_text(message.id),
                             Value(message.end_seq), room_text(message.answer)};
  const auto ended = write(
      "UPDATE room_message SET end_seq = CAST($5 AS bigint), answer = CAST($6 AS text), body = '' "
      "WHERE room = $1 AND id = $4 AND EXISTS (SELECT 1 FROM held) RETURNING 1",
      values);
  if (!ended || !*ended) return ended;
  const std::array old = {room_text(room), Value(keep)};
  const auto pruned = database_.change(
      "DELETE FROM room_message WHERE room = $1 AND end_seq > 0 AND place <= (SELECT place FROM "
      "room_message WHERE room = $1 ORDER BY place DESC OFFSET CAST($2 AS bigint) LIMIT 1)",
      old);
  if (!pruned) return tl::unexpected(pruned.error());
  return true;
}

Attempt<void> RoomTable::forget(std::string_view room, std::string_view holder) {
  const std::array values = {room_text(room), room_text(node_), room_text(holder)};
  const std::array commands = {
      Command{"DELETE FROM room_message WHERE room = $1 AND EXISTS (SELECT 1 FROM lease WHERE name "
              "= $1 AND node = $2 AND holder = $3)",
              values},
      Command{"DELETE FROM lease WHERE name = $1 AND node = $2 AND holder = $3", values}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Attempt<void> RoomTable::sweep(std::chrono::milliseconds keep) {
  const std::array values = {Value(keep.count())};
  const auto swept = database_.change(
      sql("DELETE FROM room_message WHERE said_at < {now} - CAST($1 AS bigint) AND NOT EXISTS "
          "(SELECT 1 FROM lease WHERE name = room_message.room)"),
      values);
  if (!swept) return tl::unexpected(swept.error());
  return {};
}

}  // namespace callgate::store
