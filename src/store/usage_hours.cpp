#include "store/usage_hours.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

namespace callgate::store {
namespace {

constexpr std::int64_t kHour = 3'600'000;

std::int64_t hour_of(std::int64_t time) { return time / kHour * kHour; }

// The sums of requests, in the order of usage_hour's columns.
constexpr std::string_view kSums =
    "count(*) AS requests, sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS failed, "
    "sum(coalesce(calls, 0)) AS calls, sum(coalesce(prompt_tokens, 0)) AS prompt_tokens, "
    "sum(coalesce(completion_tokens, 0)) AS completion_tokens, "
    "sum(coalesce(cached_tokens, 0)) AS cached_tokens, "
    "sum(coalesce(reasoning_tokens, 0)) AS reasoning_tokens";
constexpr std::string_view kColumns =
    "requests, failed, calls, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens";

// Of a row of `request` or, where the time is that of an hour, of `usage_hour`.
std::string group_sql(UsageGroup group, std::string_view time) {
  switch (group) {
    case UsageGroup::hour:
      return std::string(time) + " / 3600000 * 3600000";
    case UsageGroup::day:
      return std::string(time) + " / 86400000 * 86400000";
    case UsageGroup::model:
      return "coalesce(model, '')";
    case UsageGroup::key:
      return "coalesce(key_name, '')";
  }
  return {};
}

// 2026-11-16T03:00:00Z
std::string to_time(std::int64_t unix_ms) {
  const std::chrono::sys_seconds time{std::chrono::seconds(unix_ms / 1000)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

bool is_time(UsageGroup group) { return group == UsageGroup::hour || group == UsageGroup::day; }

Attempt<void> sum_up(Database& database, std::int64_t hour) {
  const Value values[] = {hour, hour + kHour};
  const Attempt<std::int64_t> removed =
      database.change("DELETE FROM usage_hour WHERE hour = $1", std::span(values).first(1));
  if (!removed) return tl::unexpected(removed.error());
  const Attempt<std::int64_t> added = database.change(
      "INSERT INTO usage_hour (hour, model, key_name, " + std::string(kColumns) +
          ") SELECT received_at / 3600000 * 3600000 AS hour, coalesce(model, '') AS name, "
          "coalesce(key_name, '') AS key, " +
          std::string(kSums) +
          " FROM request WHERE received_at >= $1 AND received_at < $2 GROUP BY 1, 2, 3",
      values);
  if (!added) return tl::unexpected(added.error());
  const Attempt<std::int64_t> before = database.change("DELETE FROM usage_until", {});
  if (!before) return tl::unexpected(before.error());
  const Value next[] = {hour + kHour};
  const Attempt<std::int64_t> moved =
      database.change("INSERT INTO usage_until (up_to) VALUES ($1)", next);
  if (!moved) return tl::unexpected(moved.error());
  return {};
}

}  // namespace

Attempt<bool> sum_hour(Database& database, std::int64_t now) {
  Attempt<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  const bool sqlite = database.engine() == Engine::sqlite;
  // Another gateway may be at it.
  const Attempt<std::int64_t> up_to = database.integer(
      sqlite ? "SELECT up_to FROM usage_until" : "SELECT up_to FROM usage_until FOR UPDATE");
  if (!up_to) return tl::unexpected(up_to.error());
  const Value from[] = {*up_to};
  const Attempt<std::int64_t> first = database.integer(
      "SELECT coalesce(min(received_at), 0) FROM request WHERE received_at >= $1", from);
  if (!first) return tl::unexpected(first.error());
  const std::int64_t hour = hour_of(*first);
  if (*first == 0 || hour + 2 * kHour > now) return false;
  const Value within[] = {hour, hour + kHour};
  const Attempt<std::int64_t> running = database.integer(
      "SELECT count(*) FROM request WHERE state = 'running' AND state <> 'completed' AND "
      "received_at >= $1 AND received_at < $2",
      within);
  if (!running) return tl::unexpected(running.error());
  if (*running > 0) return false;
  const Attempt<void> summed = sum_up(database, hour);
  if (!summed) return tl::unexpected(summed.error());
  const Attempt<void> committed = transaction->commit();
  if (!committed) return tl::unexpected(committed.error());
  return true;
}

Attempt<std::vector<UsageRow>> usage(Database& database, UsageGroup group, std::int64_t since,
                                     std::int64_t until) {
  const Attempt<std::int64_t> up_to = database.integer("SELECT up_to FROM usage_until");
  if (!up_to) return tl::unexpected(up_to.error());
  // Whole hours that are summed, and what is before and behind them.
  const std::int64_t from = hour_of(since + kHour - 1);
  const std::int64_t to = std::max(from, std::min(hour_of(until), *up_to));
  const std::int64_t head = std::min(from, until);
  const Value values[] = {from, to, since, head, std::max(to, head), until};
  const std::string of_request = group_sql(group, "received_at");
  const auto requests = [&](std::string_view range) {
    return " UNION ALL SELECT " + of_request + " AS part, " + std::string(kSums) +
           " FROM request WHERE " + std::string(range) + " GROUP BY part";
  };
  std::string sums;
  for (const std::string_view column : {"requests", "failed", "calls", "prompt_tokens",
                                        "completion_tokens", "cached_tokens", "reasoning_tokens"}) {
    sums += ", CAST(sum(" + std::string(column) + ") AS bigint)";
  }
  const Attempt<Rows> rows = database.query(
      "SELECT part" + sums + " FROM (SELECT " + group_sql(group, "hour") + " AS part, " +
          std::string(kColumns) + " FROM usage_hour WHERE hour >= $1 AND hour < $2" +
          requests("received_at >= $3 AND received_at < $4") +
          requests("received_at >= $5 AND received_at < $6") +
          ") AS parts GROUP BY part ORDER BY part",
      values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<UsageRow> usage;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    usage.push_back({.group = is_time(group) ? to_time(row.integer(0)) : row.text(0),
                     .requests = row.integer(1),
                     .failed = row.integer(2),
                     .calls = row.integer(3),
                     .prompt_tokens = row.integer(4),
                     .completion_tokens = row.integer(5),
                     .cached_tokens = row.integer(6),
                     .reasoning_tokens = row.integer(7)});
  }
  return usage;
}

}  // namespace callgate::store
