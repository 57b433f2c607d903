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

// What is summed, and how of the rows of `request`.
struct UsageSum {
  std::string_view column;
  std::string_view of_requests;
};
constexpr UsageSum kSums[] = {
    {"requests", "count(*)"},
    {"failed", "sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END)"},
    {"calls", "sum(coalesce(calls, 0))"},
    {"prompt_tokens", "sum(coalesce(prompt_tokens, 0))"},
    {"completion_tokens", "sum(coalesce(completion_tokens, 0))"},
    {"cached_tokens", "sum(coalesce(cached_tokens, 0))"},
    {"reasoning_tokens", "sum(coalesce(reasoning_tokens, 0))"},
    {"cost", "sum(coalesce(cost, 0))"},
    {"unpriced",
     "sum(CASE WHEN cost IS NULL AND coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) > "
     "0 THEN 1 ELSE 0 END)"},
};

// Requests of a span of time; by tool, once for each tool that they called, with the calls of that one.
std::string requests_sql(bool by_tool, std::string_view from, std::string_view to) {
  const std::string range =
      " WHERE received_at >= " + std::string(from) + " AND received_at < " + std::string(to);
  if (!by_tool) return "request" + range;
  return "(SELECT r.received_at, r.model, r.key_name, r.upstream, r.state, r.prompt_tokens, "
         "r.completion_tokens, r.cached_tokens, r.reasoning_tokens, r.cost, c.tool, c.calls FROM "
         "request r JOIN (SELECT seq, name AS tool, count(*) AS calls FROM call" +
         range +
         " GROUP BY seq, name) c ON c.seq = r.seq WHERE r.received_at >= " + std::string(from) +
         " AND r.received_at < " + std::string(to) + ") AS called";
}

std::string sums_sql() {
  std::string sql;
  for (const UsageSum& sum : kSums) {
    sql.append(", ").append(sum.of_requests).append(" AS ").append(sum.column);
  }
  return sql;
}

std::string columns_sql() {
  std::string sql;
  for (const UsageSum& sum : kSums) sql.append(", ").append(sum.column);
  return sql;
}

// Of a row of `request` or, where the time is that of an hour, of the sums.
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
    case UsageGroup::upstream:
      return "coalesce(upstream, '')";
    case UsageGroup::tool:
      return "tool";
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

Attempt<void> sum_table(Database& database, std::int64_t hour, bool by_tool) {
  const std::string table = by_tool ? "usage_tool_hour" : "usage_hour";
  const Value values[] = {hour, hour + kHour};
  const Attempt<std::int64_t> removed =
      database.change("DELETE FROM " + table + " WHERE hour = $1", std::span(values).first(1));
  if (!removed) return tl::unexpected(removed.error());
  const std::string tool = by_tool ? ", tool" : "";
  const Attempt<std::int64_t> added = database.change(
      "INSERT INTO " + table + " (hour, model, key_name, upstream" + tool + columns_sql() +
          ") SELECT received_at / 3600000 * 3600000 AS hour, coalesce(model, '') AS name, "
          "coalesce(key_name, '') AS key, coalesce(upstream, '') AS server" +
          tool + sums_sql() + " FROM " + requests_sql(by_tool, "$1", "$2") +
          " GROUP BY 1, 2, 3, 4" + (by_tool ? ", 5" : ""),
      values);
  if (!added) return tl::unexpected(added.error());
  return {};
}

Attempt<void> sum_up(Database& database, std::int64_t hour) {
  for (const bool by_tool : {false, true}) {
    if (auto summed = sum_table(database, hour, by_tool); !summed) return summed;
  }
  const Attempt<std::int64_t> before = database.change("DELETE FROM usage_until", {});
  if (!before) return tl::unexpected(before.error());
  const Value next[] = {hour + kHour};
  const Attempt<std::int64_t> moved =
      database.change("INSERT INTO usage_until (up_to) VALUES ($1)", next);
  if (!moved) return tl::unexpected(moved.error());
  return {};
}

// The sums of whole hours, of what comes before them, and of what comes after: $1 to $6 are the three spans, $7 the key.
std::string usage_sql(const UsageQuestion& question) {
  const auto& groups = question.groups;
  const bool by_tool = std::find(groups.begin(), groups.end(), UsageGroup::tool) != groups.end();
  const auto parts = [&](std::string_view time) {
    const std::string second = groups.size() > 1 ? group_sql(groups.back(), time) : "''";
    return group_sql(groups.front(), time) + " AS part, " + second + " AS second";
  };
  const std::string whose = question.key_name ? " AND coalesce(key_name, '') = $7" : "";
  const auto requests = [&](std::string_view from, std::string_view to) {
    const std::string rows = requests_sql(by_tool, from, to);
    const std::string only = by_tool && question.key_name ? " WHERE" + whose.substr(4) : whose;
    return " UNION ALL SELECT " + parts("received_at") + sums_sql() + " FROM " + rows + only +
           " GROUP BY 1, 2";
  };
  std::string sums;
  for (const UsageSum& sum : kSums) {
    sums += ", CAST(sum(" + std::string(sum.column) + ") AS bigint)";
  }
  const std::string table = by_tool ? "usage_tool_hour" : "usage_hour";
  return "SELECT part, second" + sums + " FROM (SELECT " + parts("hour") + columns_sql() +
         " FROM " + table + " WHERE hour >= $1 AND hour < $2" + whose + requests("$3", "$4") +
         requests("$5", "$6") + ") AS parts GROUP BY part, second ORDER BY part, second";
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

Attempt<std::vector<UsageRow>> usage(Database& database, const UsageQuestion& question) {
  const Attempt<std::int64_t> up_to = database.integer("SELECT up_to FROM usage_until");
  if (!up_to) return tl::unexpected(up_to.error());
  // Whole hours that are summed, and what comes before and after them.
  const std::int64_t from = hour_of(question.since + kHour - 1);
  const std::int64_t to = std::max(from, std::min(hour_of(question.until), *up_to));
  const std::int64_t head = std::min(from, question.until);
  const std::string_view key = question.key_name ? *question.key_name : std::string_view();
  const Value values[] = {from, to, question.since, head, std::max(to, head), question.until, key};
  const auto all = std::span(values);
  const Attempt<Rows> rows =
      database.query(usage_sql(question), question.key_name ? all : all.first(all.size() - 1));
  if (!rows) return tl::unexpected(rows.error());
  const UsageGroup first = question.groups.front();
  const UsageGroup second = question.groups.back();
  const bool both = question.groups.size() > 1;
  std::vector<UsageRow> usage;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    const auto part = [&row](UsageGroup group, std::size_t column) {
      return is_time(group) ? to_time(row.integer(column)) : row.text(column);
    };
    usage.push_back({.group = part(first, 0),
                     .second = both ? part(second, 1) : std::string(),
                     .requests = row.integer(2),
                     .failed = row.integer(3),
                     .calls = row.integer(4),
                     .prompt_tokens = row.integer(5),
                     .completion_tokens = row.integer(6),
                     .cached_tokens = row.integer(7),
                     .reasoning_tokens = row.integer(8),
                     .cost = row.integer(9),
                     .unpriced = row.integer(10)});
  }
  return usage;
}

}  // namespace callgate::store
