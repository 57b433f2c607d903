// What can be asked of the log, on both engines.
#include "store/request_query.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "store/contract_testing.h"
#include "store/migration.h"
#include "store/usage_hours.h"

namespace callgate::store::request_query_test {
namespace {

constexpr std::int64_t kNoon = 1'760'011'200'000;  // 2025-10-09T12:00:00Z

class RequestQueryContract : public StoreContract {
 protected:
  // Ten requests, one each minute; the last is the latest.
  void fill() {
    for (int i = 0; i < 10; ++i) {
      const std::string id = "r" + std::to_string(i);
      RequestRecord record = sample_record(id, kNoon + i * 60'000);
      record.model = i % 2 == 0 ? "even" : "odd";
      if (i == 3) record.session = "s-1";
      RequestOutcome outcome = sample_outcome(id);
      outcome.search = "Read src/main.cpp now, number" + std::to_string(i) + " " + record.model;
      outcome.calls = 0;
      if (i != 8) outcome.missed_call.clear();
      outcome.finish_reason = FinishReason::stop;
      if (i == 4) {
        outcome.session = "s-1";
        outcome.calls = 3;
        outcome.call_rows = {{"c0", "read_file", CallOutcome::complete},
                             {"c1", "search", CallOutcome::truncated},
                             {"c2", "read_file", CallOutcome::malformed}};
        outcome.call_rows[0].result = {
            .round = 2, .is_error = true, .duration_ms = 15, .bytes = 3000, .text = "no such file"};
      }
      if (i == 5) {
        outcome.state = RequestState::failed;
        outcome.error_code = "upstream_failed";
        outcome.finish_reason.reset();
      }
      if (i == 6) outcome.finish_reason = FinishReason::length;
      if (i == 7) outcome.upstream = "other";
      log_->begin(std::move(record));
      if (i != 9) log_->complete(std::move(outcome));
    }
    ASSERT_TRUE(log_->flush(kLong));
  }
  std::string ids(const RequestFilter& filter) {
    const Result<RequestPage> page = log_->search(filter);
    if (!page) return page.error().message;
    std::string text;
    for (const RequestRow& row : page->rows) text += row.record.id.substr(1);
    return text;
  }

  std::unique_ptr<RequestLog> log_ = open_log(url());
};
CALLGATE_ON_BOTH_ENGINES(RequestQueryContract);

TEST_P(RequestQueryContract, finds_requests_by_what_is_known_of_them) {
  fill();
  EXPECT_EQ(ids({}), "9876543210");
  EXPECT_EQ(ids({.since = kNoon + 120'000, .until = kNoon + 300'000}), "432");
  EXPECT_EQ(ids({.model = "odd"}), "97531");
  EXPECT_EQ(ids({.key_name = "dev", .limit = 2}), "98");
  EXPECT_EQ(ids({.key_name = "nobody"}), "");
  EXPECT_EQ(ids({.session = "s-1"}), "43");
  EXPECT_EQ(ids({.upstream = "other"}), "7");
  EXPECT_EQ(ids({.tool = "read_file"}), "4");
  EXPECT_EQ(ids({.model = "odd", .tool = "read_file"}), "");
  EXPECT_EQ(ids({.state = RequestState::running}), "9");
  EXPECT_EQ(ids({.state = RequestState::failed}), "5");
  EXPECT_EQ(ids({.state = RequestState::completed, .limit = 3}), "876");
  EXPECT_EQ(ids({.finish_reason = FinishReason::length}), "6");
  EXPECT_EQ(ids({.model = "even", .finish_reason = FinishReason::stop}), "8420");
  EXPECT_EQ(ids({.has_calls = true}), "4");
  EXPECT_EQ(ids({.model = "even", .has_calls = false}), "8620");
  EXPECT_EQ(ids({.has_error = true}), "5");
  EXPECT_EQ(ids({.model = "odd", .has_error = false}), "9731");
  EXPECT_EQ(ids({.error_code = "upstream_failed"}), "5");
  EXPECT_EQ(ids({.error_code = "unavailable"}), "");
  EXPECT_EQ(ids({.has_missed_call = true}), "8");
  EXPECT_EQ(ids({.has_missed_call = false, .limit = 3}), "976");
  EXPECT_EQ(ids({.missed_call = "hermes"}), "8");
  EXPECT_EQ(ids({.missed_call = "xlam"}), "");
}

TEST_P(RequestQueryContract, finds_errors_that_nobody_has_resolved) {
  fill();
  EXPECT_EQ(ids({.is_resolved = false, .has_error = true}), "5");
  EXPECT_EQ(log_->resolve("r5", kNoon, "quota raised"), true);
  EXPECT_EQ(ids({.is_resolved = false, .has_error = true}), "");
  EXPECT_EQ(ids({.is_resolved = true}), "5");
  const auto row = log_->get("r5");
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->resolved_at, kNoon);
  EXPECT_EQ((*row)->resolution, "quota raised");
  EXPECT_EQ((*row)->outcome.error_code, "upstream_failed");
  EXPECT_EQ(log_->resolve("r5", std::nullopt, "ignored"), true);
  EXPECT_EQ(ids({.is_resolved = true}), "");
  EXPECT_EQ(log_->get("r5").value()->resolution, "");
  EXPECT_EQ(log_->resolve("nobody", kNoon, ""), false);
  EXPECT_EQ(log_->resolve("r4", kNoon, std::string(5'000, 'x')), true);
  EXPECT_EQ(log_->get("r4").value()->resolution.size(), kLongestText);
}

TEST_P(RequestQueryContract, finds_requests_by_the_words_of_their_text) {
  fill();
  EXPECT_EQ(ids({.text = "number3"}), "3");
  EXPECT_EQ(ids({.text = "READ odd"}), "7531");
  EXPECT_EQ(ids({.text = "main.cpp number2"}), "2");
  EXPECT_EQ(ids({.text = "src/main.cpp", .limit = 2}), "87");
  EXPECT_EQ(ids({.text = "odd even"}), "");
  EXPECT_EQ(ids({.text = "\"cpp' OR (number1 AND -now* NEAR"}), "");
  EXPECT_EQ(ids({.text = "NOT"}), "");
  EXPECT_EQ(ids({.text = "..."}), "9876543210");
}

TEST_P(RequestQueryContract, common_words_are_found_like_rare_ones) {
  fill();
  const auto database = open_database(url(), {}).value();
  for (const char* text : {"number3", "READ odd", "main.cpp number2", "odd even"}) {
    const RequestFilter filter{.model = "odd", .text = text};
    std::string found[2];
    for (const Words words : {Words::rare, Words::common}) {
      const RequestQuery query = search_query(GetParam(), filter, words).value();
      const Rows rows = database->query(query.sql, query.values).value();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        found[static_cast<std::size_t>(words)] += read_row(rows[i]).record.id;
      }
    }
    EXPECT_EQ(found[0], found[1]) << text;
  }
  EXPECT_EQ(ids({.model = "odd", .text = "READ odd"}), "7531");
}

TEST_P(RequestQueryContract, pages_follow_each_other_without_gap_or_repetition) {
  for (int i = 0; i < 25; ++i) {
    // Several of the same time.
    log_->begin(sample_record("r" + std::to_string(i), kNoon + i / 4));
  }
  ASSERT_TRUE(log_->flush(kLong));
  for (const char* model : {"", "kimi-k2.5"}) {
    RequestFilter filter{.model = model, .limit = 7};
    std::vector<std::string> seen;
    int pages = 0;
    do {
      const RequestPage page = log_->search(filter).value();
      for (const RequestRow& row : page.rows) seen.push_back(row.record.id);
      filter.cursor = page.cursor;
      ++pages;
    } while (!filter.cursor.empty());
    EXPECT_EQ(pages, 4);
    ASSERT_EQ(seen.size(), 25u);
    for (int i = 0; i < 25; ++i) EXPECT_EQ(seen[i], "r" + std::to_string(24 - i));
  }
  const auto wrong = log_->search({.cursor = "x"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_request);
}

TEST_P(RequestQueryContract, keeps_calls_in_their_order) {
  fill();
  const std::vector<CallRow> calls = log_->calls("r4").value();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[1].id, "c1");
  EXPECT_EQ(calls[1].name, "search");
  EXPECT_EQ(calls[1].outcome, CallOutcome::truncated);
  EXPECT_EQ(calls[2].outcome, CallOutcome::malformed);
  ASSERT_TRUE(calls[0].result);
  EXPECT_EQ(calls[0].result->round, 2);
  EXPECT_TRUE(calls[0].result->is_error);
  EXPECT_EQ(calls[0].result->duration_ms, 15);
  EXPECT_EQ(calls[0].result->bytes, 3000);
  EXPECT_EQ(calls[0].result->text, "no such file");
  EXPECT_FALSE(calls[1].result);
  EXPECT_TRUE(log_->calls("r1").value().empty());
  EXPECT_TRUE(log_->calls("unknown").value().empty());
}

TEST_P(RequestQueryContract, keeps_bodies_byte_for_byte) {
  std::string noise;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(i * 7919 % 251);
  const std::string bodies[] = {"",
                                "{}",
                                std::string(4096, 'a'),
                                std::string(4097, 'a'),
                                std::string(200'000, 'b'),
                                noise,
                                std::string("\0x\0", 3)};
  for (const bool together : {true, false}) {
    for (const std::string& body : bodies) {
      RequestRecord record = sample_record("a");
      record.received = body;
      log_->begin(std::move(record));
      if (!together) {
        ASSERT_TRUE(log_->flush(kLong));
        EXPECT_EQ(log_->content("a").value().received, body);
      }
      RequestOutcome outcome = sample_outcome("a");
      outcome.sent = body + "1";
      outcome.response = body;
      outcome.events = body + "3";
      log_->complete(std::move(outcome));
      ASSERT_TRUE(log_->flush(kLong));
      const RequestContent content = log_->content("a").value();
      EXPECT_EQ(content.received, body);
      EXPECT_EQ(content.sent, body + "1");
      EXPECT_EQ(content.response, body);
      EXPECT_EQ(content.events, body + "3");
    }
  }
  EXPECT_EQ(log_->content("unknown").value().received, "");
}

TEST_P(RequestQueryContract, sums_usage_by_time_model_and_key) {
  fill();
  const auto sum = [&](UsageGroup group) {
    std::string text;
    const std::vector<UsageRow> rows = log_->usage(group, 0, kNoon + 540'000).value();
    for (const UsageRow& row : rows) {
      text += row.group + ":" + std::to_string(row.requests) + "/" + std::to_string(row.failed) +
              "/" + std::to_string(row.calls) + "/" + std::to_string(row.prompt_tokens) + "/" +
              std::to_string(row.completion_tokens) + " ";
    }
    return text;
  };
  EXPECT_EQ(sum(UsageGroup::hour), "2025-10-09T12:00:00Z:9/1/3/900/180 ");
  EXPECT_EQ(sum(UsageGroup::day), "2025-10-09T00:00:00Z:9/1/3/900/180 ");
  EXPECT_EQ(sum(UsageGroup::model), "even:5/0/3/500/100 odd:4/1/0/400/80 ");
  EXPECT_EQ(sum(UsageGroup::key), "dev:9/1/3/900/180 ");
}

TEST_P(RequestQueryContract, sums_usage_by_any_two_with_cost) {
  constexpr std::int64_t kHour = 3'600'000;
  const auto add = [&](int number, const char* key, const char* upstream,
                       std::optional<std::int64_t> cost, std::vector<CallRow> calls) {
    const std::string id = "r" + std::to_string(number);
    RequestRecord record = sample_record(id, kNoon + number);
    record.key_name = key;
    record.upstream = upstream;
    RequestOutcome outcome = sample_outcome(id);
    outcome.key_name = key;
    outcome.upstream = {};
    outcome.cost = cost;
    outcome.calls = static_cast<std::int64_t>(calls.size());
    outcome.call_rows = std::move(calls);
    log_->begin(std::move(record));
    log_->complete(std::move(outcome));
  };
  const CallRow read{.id = "c1", .name = "read"};
  const CallRow write{.id = "c2", .name = "write"};
  add(0, "ann", "one", 100, {read, read, write});
  add(1, "ann", "two", std::nullopt, {write});
  add(2, "bob", "one", 7, {});
  ASSERT_TRUE(log_->flush(kLong));
  const auto sum = [&](std::vector<UsageGroup> groups, std::optional<std::string> key = {}) {
    std::string text;
    const auto rows = log_->usage(
        UsageQuestion{.groups = groups, .since = 0, .until = kNoon + 90 * kHour, .key_name = key});
    EXPECT_TRUE(rows) << rows.error().message;
    for (const UsageRow& row : *rows) {
      text += row.group + "+" + row.second + ":" + std::to_string(row.requests) + "/" +
              std::to_string(row.calls) + "/" + std::to_string(row.cost) + "/" +
              std::to_string(row.unpriced) + " ";
    }
    return text;
  };
  using enum UsageGroup;
  const auto expect_sums = [&] {
    EXPECT_EQ(sum({upstream}), "one+:2/3/107/0 two+:1/1/0/1 ");
    EXPECT_EQ(sum({key, upstream}), "ann+one:1/3/100/0 ann+two:1/1/0/1 bob+one:1/0/7/0 ");
    EXPECT_EQ(sum({tool}), "read+:1/2/100/0 write+:2/2/100/1 ");
    EXPECT_EQ(sum({tool, upstream}), "read+one:1/2/100/0 write+one:1/1/100/0 write+two:1/1/0/1 ");
    EXPECT_EQ(sum({day, tool}),
              "2025-10-09T00:00:00Z+read:1/2/100/0 2025-10-09T00:00:00Z+write:2/2/100/1 ");
    EXPECT_EQ(sum({upstream}, "bob"), "one+:1/0/7/0 ");
    EXPECT_EQ(sum({tool, key}, "bob"), "");
    EXPECT_EQ(sum({key, tool}, "ann"), "ann+read:1/2/100/0 ann+write:2/2/100/1 ");
  };
  expect_sums();
  const auto database = open_migrated(url(), {}).value();
  EXPECT_TRUE(sum_hour(*database, kNoon + 90 * kHour).value());
  expect_sums();
}

TEST_P(RequestQueryContract, sums_every_count_before_and_after_hours_are_summed) {
  for (int i = 0; i < 2; ++i) {
    const std::string id = "r" + std::to_string(i);
    log_->begin(full_record(id));
    log_->complete(full_outcome(id));
  }
  ASSERT_TRUE(log_->flush(kLong));
  constexpr std::int64_t kFuture = 1'760'000'000'001 + 90'000'000;
  const auto expect_sums = [&] {
    for (const UsageGroup group :
         {UsageGroup::hour, UsageGroup::day, UsageGroup::model, UsageGroup::key}) {
      const std::vector<UsageRow> rows = log_->usage(group, 0, kFuture).value();
      ASSERT_EQ(rows.size(), 1u);
      EXPECT_EQ(rows[0].requests, 2);
      EXPECT_EQ(rows[0].failed, 2);
      EXPECT_EQ(rows[0].calls, 22);
      EXPECT_EQ(rows[0].prompt_tokens, 42);
      EXPECT_EQ(rows[0].completion_tokens, 44);
      EXPECT_EQ(rows[0].cached_tokens, 48);
      EXPECT_EQ(rows[0].reasoning_tokens, 52);
    }
    EXPECT_EQ(log_->usage(UsageGroup::model, 0, kFuture).value()[0].group, "model");
    EXPECT_EQ(log_->usage(UsageGroup::key, 0, kFuture).value()[0].group, "key");
  };
  expect_sums();
  const auto database = open_migrated(url(), {}).value();
  EXPECT_TRUE(sum_hour(*database, kFuture).value());
  expect_sums();
}

TEST_P(RequestQueryContract, times_of_usage_include_the_first_and_exclude_the_last) {
  for (int i = 0; i < 3; ++i) {
    const std::string id = "r" + std::to_string(i);
    log_->begin(sample_record(id, kNoon + i));
    log_->complete(sample_outcome(id));
  }
  ASSERT_TRUE(log_->flush(kLong));
  const auto requests = [&](std::int64_t since, std::int64_t until) {
    const std::vector<UsageRow> rows = log_->usage(UsageGroup::key, since, until).value();
    return rows.empty() ? 0 : rows[0].requests;
  };
  EXPECT_EQ(requests(kNoon, kNoon + 3), 3);
  EXPECT_EQ(requests(kNoon + 1, kNoon + 2), 1);
  EXPECT_EQ(requests(kNoon, kNoon), 0);
  EXPECT_EQ(requests(kNoon + 3, kNoon + 9), 0);
}

TEST_P(RequestQueryContract, a_page_has_a_thousand_rows_at_most) {
  for (int i = 0; i < 1001; ++i) log_->begin(sample_record("r" + std::to_string(i), kNoon + i));
  ASSERT_TRUE(log_->flush(kLong));
  RequestFilter filter{.limit = 5000};
  const RequestPage first = log_->search(filter).value();
  EXPECT_EQ(first.rows.size(), 1000u);
  filter.cursor = first.cursor;
  const RequestPage second = log_->search(filter).value();
  ASSERT_EQ(second.rows.size(), 1u);
  EXPECT_EQ(second.rows[0].record.id, "r0");
  EXPECT_EQ(second.cursor, "");
  EXPECT_EQ(log_->search({.limit = 1001}).value().rows.size(), 1000u);
}

TEST_P(RequestQueryContract, a_page_that_is_just_full_is_the_last) {
  fill();
  EXPECT_EQ(log_->search({.limit = 10}).value().cursor, "");
  EXPECT_NE(log_->search({.limit = 9}).value().cursor, "");
  for (const char* cursor : {"x", "5", "5.", "5.x", ".5", "5.5x", "5-5"}) {
    const auto wrong = log_->search({.cursor = cursor});
    ASSERT_FALSE(wrong) << cursor;
    EXPECT_EQ(wrong.error().code, ErrorCode::invalid_request) << cursor;
  }
}

TEST_P(RequestQueryContract, sums_of_hours_change_no_answer) {
  constexpr std::int64_t kHour = 3'600'000;
  const auto add = [&](int i, std::int64_t at) {
    const std::string id = "h" + std::to_string(i);
    RequestRecord record = sample_record(id, at);
    record.model = i % 3 == 0 ? "" : "m" + std::to_string(i % 3);
    RequestOutcome outcome = sample_outcome(id);
    outcome.calls = i;
    if (i % 5 == 0) outcome.state = RequestState::failed;
    log_->begin(std::move(record));
    log_->complete(std::move(outcome));
  };
  for (int i = 0; i < 60; ++i) add(i, kNoon + i * kHour / 7);
  ASSERT_TRUE(log_->flush(kLong));
  const auto all = [&] {
    std::string text;
    for (const std::int64_t since : {std::int64_t{0}, kNoon + kHour, kNoon + 2 * kHour + 5}) {
      for (const std::int64_t until :
           {kNoon + 2 * kHour, kNoon + 2 * kHour + 6, kNoon + 4 * kHour + 77, kNoon + 90 * kHour}) {
        for (const UsageGroup group :
             {UsageGroup::hour, UsageGroup::day, UsageGroup::model, UsageGroup::key}) {
          const std::vector<UsageRow> rows = log_->usage(group, since, until).value();
          for (const UsageRow& row : rows) {
            text += row.group + " " + std::to_string(row.requests) + " " +
                    std::to_string(row.failed) + " " + std::to_string(row.calls) + " " +
                    std::to_string(row.completion_tokens) + "\n";
          }
          text += "--\n";
        }
      }
    }
    return text;
  };
  const auto sum_until = [&](std::int64_t now) {
    const auto database = open_migrated(url(), {}).value();
    int hours = 0;
    Attempt<bool> more = sum_hour(*database, now);
    for (; more && *more; more = sum_hour(*database, now)) ++hours;
    EXPECT_TRUE(more) << more.error().message;
    return hours;
  };
  const std::string before = all();
  EXPECT_EQ(sum_until(kNoon + 2 * kHour - 1), 0) << "no hour is over for an hour";
  EXPECT_EQ(sum_until(kNoon + 2 * kHour), 1);
  EXPECT_EQ(all(), before);
  EXPECT_EQ(sum_until(kNoon + 5 * kHour), 3);
  EXPECT_EQ(all(), before);
  EXPECT_EQ(sum_until(kNoon + 90 * kHour), 5);
  EXPECT_EQ(all(), before);

  // What comes late from a journal is counted.
  add(60, kNoon + kHour + 1);
  ASSERT_TRUE(log_->flush(kLong));
  const auto database = open_migrated(url(), {}).value();
  const Value late[] = {kNoon + kHour + 1};
  EXPECT_EQ(database->change(kSumAgainSql, late).value(), 1);
  EXPECT_EQ(sum_until(kNoon + 90 * kHour), 8);
  EXPECT_EQ(log_->usage(UsageGroup::key, 0, kNoon + 90 * kHour).value().front().requests, 61);
}

TEST_P(RequestQueryContract, hours_wait_for_requests_that_run) {
  fill();
  const auto database = open_migrated(url(), {}).value();
  EXPECT_FALSE(sum_hour(*database, kNoon + 360'000'000).value());
  log_->complete(sample_outcome("r9"));
  ASSERT_TRUE(log_->flush(kLong));
  EXPECT_TRUE(sum_hour(*database, kNoon + 360'000'000).value());
  EXPECT_EQ(log_->usage(UsageGroup::key, 0, kNoon + 360'000'000).value().front().requests, 10);
}

TEST_P(RequestQueryContract, tells_what_it_holds) {
  fill();
  const StoreStats stats = log_->stats().value();
  EXPECT_EQ(stats.engine, to_string(GetParam()));
  EXPECT_EQ(stats.schema, migrations(GetParam()).back().version);
  EXPECT_EQ(stats.requests, 10);
  EXPECT_EQ(stats.oldest_at, kNoon);
  EXPECT_GT(stats.bytes, 10'000);
}

TEST_P(RequestQueryContract, texts_that_no_database_takes_are_cleaned) {
  RequestRecord record = sample_record("a");
  record.model = std::string("x\0y\xff", 4);
  log_->begin(record);
  ASSERT_TRUE(log_->flush(kLong));
  EXPECT_EQ(log_->get("a").value()->record.model, "xy\xEF\xBF\xBD");
}

// Every filter that may be rare has an index that gives its rows in order: nothing is sorted, and
// no table is read as a whole.
TEST_P(RequestQueryContract, every_filter_has_its_index) {
  struct Row {
    RequestFilter filter;
    const char* index;
  };
  const Row rows[] = {
      {{}, is_sqlite() ? "request_by_received_at" : "pkey"},
      {{.since = kNoon, .until = kNoon + 1}, is_sqlite() ? "request_by_received_at" : "pkey"},
      {{.cursor = "1760011200000.5"}, is_sqlite() ? "request_by_received_at" : "pkey"},
      {{.model = "m"}, "model"},
      {{.key_name = "k"}, "key"},
      {{.session = "s"}, "session"},
      {{.upstream = "u"}, "upstream"},
      {{.tool = "t"}, is_sqlite() ? "call_by_name" : "name_received_at"},
      {{.state = RequestState::failed}, "state"},
      {{.finish_reason = FinishReason::length}, is_sqlite() ? "rare_end" : "finish_reason"},
      {{.has_calls = true}, is_sqlite() ? "request_with_calls" : "received_at_seq_idx"},
      {{.has_error = true}, is_sqlite() ? "request_with_error" : "received_at_seq_idx"},
      {{.has_missed_call = true}, is_sqlite() ? "request_with_missed_call" : "received_at_seq_idx"},
      {{.text = "word"}, is_sqlite() ? "request_search" : "search_words"},
  };
  const auto database = open_database(url(), {}).value();
  // Small tables would be read as a whole.
  if (!is_sqlite()) {
    ASSERT_TRUE(database->run("SET enable_seqscan = off; SET enable_sort = off"));
  }
  for (const Row& row : rows) {
    const RequestQuery query = search_query(GetParam(), row.filter).value();
    const Rows plan =
        database
            ->query((is_sqlite() ? "EXPLAIN QUERY PLAN " : "EXPLAIN ") + query.sql, query.values)
            .value();
    std::string text;
    for (std::size_t i = 0; i < plan.size(); ++i) text += plan[i].text(is_sqlite() ? 3 : 0) + "\n";
    EXPECT_NE(text.find(row.index), std::string::npos) << row.index << "\n" << text;
    EXPECT_EQ(text.find("SCAN r\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("Seq Scan"), std::string::npos) << text;
    if (row.filter.text.empty()) {
      EXPECT_EQ(text.find("TEMP B-TREE"), std::string::npos) << text;
      EXPECT_EQ(text.find("->  Sort"), std::string::npos) << text;
    }
  }
}

// Only with CALLGATE_SOAK=1: it fills the log for minutes.
TEST_P(RequestQueryContract, a_million_requests_are_asked_within_50_ms) {
  if (std::getenv("CALLGATE_SOAK") == nullptr) GTEST_SKIP() << "takes long";
  constexpr int kRequests = 1'000'000;
  for (int i = 0; i < kRequests; ++i) {
    const std::string id = "req_" + std::to_string(10'000'000 + i);
    RequestRecord record = sample_record(id, kNoon + i * 86ll);
    record.model = "model-" + std::to_string(i % 20);
    record.key_name = i % 100'000 == 7 ? "rare" : "key-" + std::to_string(i % 10);
    if (i % 10 == 0) record.session = "s-" + std::to_string(i / 50);
    RequestOutcome outcome = sample_outcome(id);
    outcome.calls = i % 3 == 0 ? 1 : 0;
    outcome.finish_reason = i % 100'000 == 9 ? FinishReason::length : FinishReason::stop;
    if (outcome.calls > 0) outcome.call_rows = {{"c", i % 99'999 == 0 ? "rare" : "read", {}}};
    if (i % 100'000 == 11) outcome.error_code = "upstream_failed";
    outcome.search = "common words and w" + std::to_string(i % 10'007);
    log_->begin(std::move(record));
    log_->complete(std::move(outcome));
    if (i % 4'000 == 0) {
      ASSERT_TRUE(log_->flush(kLong));
    }
  }
  ASSERT_TRUE(log_->flush(kLong));
  if (!is_sqlite()) {
    ASSERT_TRUE(open_database(url(), {}).value()->run("ANALYZE"));
  }
  const RequestFilter filters[] = {
      {},
      {.since = kNoon + 40'000'000, .until = kNoon + 40'100'000},
      {.model = "model-3"},
      {.key_name = "rare"},
      {.session = "s-7"},
      {.tool = "rare"},
      {.state = RequestState::failed},
      {.finish_reason = FinishReason::length},
      {.has_calls = true},
      {.error_code = "upstream_failed"},
      {.text = "w1234"},
      {.text = "common"},
      {.cursor = std::to_string(kNoon + 40'000'000) + ".5"},
  };
  int number = 0;
  for (const RequestFilter& filter : filters) {
    ASSERT_TRUE(log_->search(filter));  // reads from the disk
    const auto start = std::chrono::steady_clock::now();
    const auto page = log_->search(filter);
    const auto took = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(page) << page.error().message;
    const double ms = std::chrono::duration<double, std::milli>(took).count();
    std::printf("filter %d: %zu rows in %.2f ms\n", number, page->rows.size(), ms);
    EXPECT_LT(ms, 50) << number;
    ++number;
  }
  const auto database = open_migrated(url(), {}).value();
  while (sum_hour(*database, kNoon + 360'000'000).value()) continue;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(log_->usage(UsageGroup::model, kNoon - 1, kNoon + 180'000'000).value().empty());
  const auto took = std::chrono::steady_clock::now() - start;
  const double ms = std::chrono::duration<double, std::milli>(took).count();
  std::printf("usage of all: %.1f ms\n", ms);
  EXPECT_LT(ms, 50);
}

}  // namespace
}  // namespace callgate::store::request_query_test
