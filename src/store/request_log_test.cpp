#include "store/request_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <mutex>
#include <thread>
#include <utility>

#include "store/contract_testing.h"
#include "store/database.h"
#include "store/migration.h"

namespace callgate::store::request_log_test {
namespace {

class RequestLogContract : public StoreContract {};
CALLGATE_ON_BOTH_ENGINES(RequestLogContract);

void expect_sample(const RequestRow& row, const std::string& id) {
  const RequestRecord record = sample_record(id);
  const RequestOutcome outcome = sample_outcome(id);
  EXPECT_EQ(row.record.id, id);
  EXPECT_EQ(row.record.received_at, record.received_at);
  EXPECT_EQ(row.record.key_name, record.key_name);
  EXPECT_EQ(row.record.protocol, record.protocol);
  EXPECT_EQ(row.record.model, record.model);
  EXPECT_EQ(row.record.upstream, record.upstream);
  EXPECT_EQ(row.record.dialect, record.dialect);
  EXPECT_EQ(row.record.client_address, record.client_address);
  EXPECT_EQ(row.record.stream, record.stream);
  EXPECT_EQ(row.outcome.state, outcome.state);
  EXPECT_EQ(row.outcome.http_status, outcome.http_status);
  EXPECT_EQ(row.outcome.finish_reason, outcome.finish_reason);
  EXPECT_EQ(row.outcome.calls, outcome.calls);
  EXPECT_EQ(row.outcome.usage, outcome.usage);
  EXPECT_EQ(row.outcome.bytes_in, outcome.bytes_in);
  EXPECT_EQ(row.outcome.bytes_out, outcome.bytes_out);
  EXPECT_EQ(row.outcome.frames, outcome.frames);
  EXPECT_EQ(row.outcome.repairs, outcome.repairs);
  EXPECT_EQ(row.outcome.repair_names, outcome.repair_names);
  EXPECT_EQ(row.outcome.missed_call, outcome.missed_call);
  EXPECT_EQ(row.outcome.attempts, outcome.attempts);
  EXPECT_EQ(row.outcome.first_byte_ms, outcome.first_byte_ms);
  EXPECT_EQ(row.outcome.first_token_ms, outcome.first_token_ms);
  EXPECT_EQ(row.outcome.total_ms, outcome.total_ms);
}

TEST_P(RequestLogContract, keeps_every_field_of_a_request_that_began_and_completed_together) {
  const auto log = open_log(url());
  log->begin(sample_record("a"));
  log->complete(sample_outcome("a"));
  ASSERT_TRUE(log->flush(kLong));
  const auto row = log->get("a").value();
  ASSERT_TRUE(row);
  expect_sample(*row, "a");
}

TEST_P(RequestLogContract, keeps_every_field_of_a_request_that_completed_later) {
  const auto log = open_log(url());
  log->begin(sample_record("a"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->get("a").value()->outcome.state, RequestState::running);
  log->complete(sample_outcome("a"));
  ASSERT_TRUE(log->flush(kLong));
  expect_sample(*log->get("a").value(), "a");
}

// What the row of full_record() and full_outcome() is read as.
void expect_full(RequestLog& log, const std::string& id) {
  RequestRecord record = full_record(id);
  RequestOutcome outcome = full_outcome(id);
  const RequestContent content{.received = record.received,
                               .sent = outcome.sent,
                               .response = outcome.response,
                               .events = outcome.events};
  const std::vector<CallRow> calls = outcome.call_rows;
  record.upstream = std::exchange(outcome.upstream, "");
  record.dialect = std::exchange(outcome.dialect, "");
  record.session = std::exchange(outcome.session, "");
  record.received.clear();
  outcome.call_rows.clear();
  for (std::string* body : {&outcome.sent, &outcome.response, &outcome.events, &outcome.search}) {
    body->clear();
  }
  const auto row = log.get(id).value();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->record, record);
  EXPECT_EQ(row->outcome, outcome);
  EXPECT_EQ(log.calls(id).value(), calls);
  EXPECT_EQ(log.content(id).value(), content);
  ASSERT_EQ(log.search({.text = "search"}).value().rows.size(), 1u);
  EXPECT_EQ(log.search({.text = "search"}).value().rows[0].outcome, outcome);
}

TEST_P(RequestLogContract, gives_back_every_field_as_it_was) {
  for (const bool together : {true, false}) {
    const auto log = open_log(new_url());
    log->begin(full_record("a"));
    if (!together) {
      ASSERT_TRUE(log->flush(kLong));
      EXPECT_EQ(log->get("a").value()->record.upstream, "upstream");
      EXPECT_EQ(log->content("a").value().received, "received");
    }
    log->complete(full_outcome("a"));
    ASSERT_TRUE(log->flush(kLong));
    expect_full(*log, "a");
  }
}

TEST_P(RequestLogContract, keeps_what_is_not_known_unknown) {
  for (const bool together : {true, false}) {
    const auto log = open_log(new_url());
    log->begin({.id = "a", .received_at = 5});
    if (!together) {
      ASSERT_TRUE(log->flush(kLong));
    }
    log->complete({.id = "a", .state = RequestState::disconnected});
    ASSERT_TRUE(log->flush(kLong));
    const auto row = log->get("a").value();
    ASSERT_TRUE(row);
    EXPECT_EQ(row->record, (RequestRecord{.id = "a", .received_at = 5}));
    EXPECT_EQ(row->outcome, (RequestOutcome{.id = "a", .state = RequestState::disconnected}));
    EXPECT_TRUE(log->calls("a").value().empty());
    EXPECT_EQ(log->content("a").value(), RequestContent{});
  }
}

TEST_P(RequestLogContract, every_state_reason_and_outcome_of_a_call_comes_back) {
  const auto log = open_log(url());
  constexpr RequestState kStates[] = {RequestState::completed, RequestState::failed,
                                      RequestState::disconnected, RequestState::interrupted};
  constexpr FinishReason kReasons[] = {FinishReason::stop, FinishReason::tool_calls,
                                       FinishReason::length, FinishReason::content_filter,
                                       FinishReason::upstream_error};
  constexpr CallOutcome kOutcomes[] = {CallOutcome::complete, CallOutcome::truncated,
                                       CallOutcome::malformed};
  std::vector<RequestOutcome> expected;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string id = std::to_string(i);
    log->begin({.id = id, .received_at = 5});
    log->complete(expected.emplace_back(
        RequestOutcome{.id = id,
                       .state = kStates[i % 4],
                       .finish_reason = kReasons[i],
                       .call_rows = {{.id = "c", .name = "n", .outcome = kOutcomes[i % 3]}}}));
  }
  ASSERT_TRUE(log->flush(kLong));
  for (const RequestOutcome& outcome : expected) {
    const auto row = log->get(outcome.id).value();
    ASSERT_TRUE(row);
    EXPECT_EQ(row->outcome.state, outcome.state) << outcome.id;
    EXPECT_EQ(row->outcome.finish_reason, outcome.finish_reason) << outcome.id;
    EXPECT_EQ(log->calls(outcome.id).value(), outcome.call_rows) << outcome.id;
  }
}

TEST_P(RequestLogContract, cuts_every_text_but_bodies_at_the_limit) {
  const auto log = open_log(url());
  const std::string fits(kLongestText, 'x');
  const std::string longer(kLongestText + 1, 'x');
  RequestRecord record{.id = "a", .received_at = 5, .received = longer};
  RequestOutcome outcome{.id = "a", .sent = longer, .response = longer, .events = longer};
  for (std::string* text :
       {&record.key_name, &record.protocol, &record.model, &record.upstream, &record.dialect,
        &record.client_address, &record.session, &record.trace_id, &outcome.key_name,
        &outcome.error_code, &outcome.error_message, &outcome.cut, &outcome.repair_names,
        &outcome.missed_call}) {
    *text = longer;
  }
  outcome.call_rows = {{.id = longer, .name = longer, .result = CallResult{.text = longer}}};
  log->begin(record);
  log->complete(outcome);
  log->begin({.id = fits, .received_at = 6});
  log->begin({.id = longer + "y", .received_at = 7});
  ASSERT_TRUE(log->flush(kLong));
  const RequestRow row = log->get("a").value().value();
  for (const std::string* text :
       {&row.record.key_name, &row.record.protocol, &row.record.model, &row.record.upstream,
        &row.record.dialect, &row.record.client_address, &row.record.session, &row.record.trace_id,
        &row.outcome.error_code, &row.outcome.error_message, &row.outcome.cut,
        &row.outcome.repair_names, &row.outcome.missed_call}) {
    EXPECT_EQ(text->size(), kLongestText);
  }
  const CallRow call = log->calls("a").value().at(0);
  EXPECT_EQ(call.id.size(), kLongestText);
  EXPECT_EQ(call.name.size(), kLongestText);
  EXPECT_EQ(call.result->text.size(), kLongestText);
  EXPECT_EQ(log->content("a").value(), (RequestContent{longer, longer, longer, longer}));
  EXPECT_EQ(log->get(fits).value()->record.received_at, 7);
}

TEST_P(RequestLogContract, survives_a_reopen) {
  {
    const auto log = open_log(url());
    log->begin(sample_record("a"));
    log->complete(sample_outcome("a"));
    log->begin(sample_record("b"));
  }
  const auto log = open_log(url());
  expect_sample(*log->get("a").value(), "a");
  EXPECT_EQ(log->get("b").value()->outcome.state, RequestState::interrupted);
  EXPECT_EQ(log->get("a").value()->run, log->get("b").value()->run);
  EXPECT_FALSE(log->get("c").value());
}

TEST_P(RequestLogContract, two_processes_share_a_file) {
  const auto first = open_log(url());
  first->begin(sample_record("a"));
  ASSERT_TRUE(first->flush(kLong));
  const auto second = open_log(url());
  second->begin(sample_record("b"));
  ASSERT_TRUE(second->flush(kLong));
  EXPECT_EQ(second->get("a").value()->outcome.state, RequestState::running);
  EXPECT_NE(second->get("a").value()->run, second->get("b").value()->run);
}

TEST_P(RequestLogContract, stores_failure_and_what_the_answer_corrected) {
  for (const bool together : {true, false}) {
    const auto log = open_log(new_url());
    log->begin(sample_record("a"));
    if (!together) {
      ASSERT_TRUE(log->flush(kLong));
    }
    log->complete({.id = "a",
                   .key_name = "dev",
                   .state = RequestState::failed,
                   .http_status = 502,
                   .error_code = "upstream_failed",
                   .error_message = "no answer",
                   .upstream = "second",
                   .attempts = 2});
    ASSERT_TRUE(log->flush(kLong));
    const RequestRow row = *log->get("a").value();
    EXPECT_EQ(row.outcome.state, RequestState::failed);
    EXPECT_EQ(row.outcome.http_status, 502);
    EXPECT_EQ(row.outcome.error_code, "upstream_failed");
    EXPECT_EQ(row.outcome.error_message, "no answer");
    EXPECT_EQ(row.record.upstream, "second");
    EXPECT_EQ(row.record.dialect, "kimi_k2");
    EXPECT_FALSE(row.outcome.usage);
    EXPECT_FALSE(row.outcome.finish_reason);
    EXPECT_FALSE(row.outcome.first_token_ms);
  }
}

TEST_P(RequestLogContract, an_update_forgets_what_the_one_before_corrected) {
  const auto log = open_log(url());
  for (const char* id : {"a", "b"}) log->begin(sample_record(id));
  ASSERT_TRUE(log->flush(kLong));
  log->complete({.id = "a", .key_name = "dev", .upstream = "other", .dialect = "other"});
  log->complete({.id = "b", .key_name = "dev"});
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->get("a").value()->record.upstream, "other");
  EXPECT_EQ(log->get("b").value()->record.upstream, "moonshot");
  EXPECT_EQ(log->get("b").value()->record.dialect, "kimi_k2");
}

TEST_P(RequestLogContract, recent_gives_the_newest_first) {
  const auto log = open_log(url());
  log->begin(sample_record("old", 10));
  log->begin(sample_record("new", 30));
  log->begin(sample_record("middle", 20));
  ASSERT_TRUE(log->flush(kLong));
  const auto rows = log->recent(2).value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].record.id, "new");
  EXPECT_EQ(rows[1].record.id, "middle");
}

TEST_P(RequestLogContract, acknowledges_each_row_once_after_its_commit) {
  std::mutex mutex;
  std::vector<std::string> seen;
  RequestLogOptions options;
  options.linger = kLong;
  options.on_recorded = [&](std::string_view id, RequestState state) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::string(id) + " " + std::string(to_string(state)));
  };
  const auto log = open_log(url(), std::move(options));
  log->begin(sample_record("a"));
  log->begin(sample_record("b"));
  log->complete(sample_outcome("a"));
  ASSERT_TRUE(log->flush(kLong));
  log->complete(sample_outcome("b"));
  ASSERT_TRUE(log->flush(kLong));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen, (std::vector<std::string>{"a completed", "b running", "b completed"}));
  EXPECT_EQ(log->recorded(), 4u);
}

TEST_P(RequestLogContract, writes_more_rows_than_one_batch_holds) {
  RequestLogOptions options;
  options.batch_rows = 7;
  const auto log = open_log(url(), std::move(options));
  for (int i = 0; i < 100; ++i) log->begin(sample_record(std::to_string(i)));
  for (int i = 0; i < 100; ++i) log->complete(sample_outcome(std::to_string(i)));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->recent(1000).value().size(), 100u);
  EXPECT_EQ(log->health().recorded, 200u);
  EXPECT_EQ(log->health().queued, 0u);
}

TEST_P(RequestLogContract, a_complete_without_its_begin_counts_as_dropped) {
  const auto log = open_log(url());
  log->complete(sample_outcome("a"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->health().dropped, 1u);
  EXPECT_EQ(log->health().recorded, 0u);
  EXPECT_TRUE(log->health().healthy);
}

TEST_P(RequestLogContract, a_client_that_sends_an_id_again_gets_a_row_of_its_own) {
  for (const bool together : {true, false}) {
    const auto log = open_log(new_url());
    for (const int status : {500, 200}) {
      log->begin(sample_record("a"));
      if (!together) {
        ASSERT_TRUE(log->flush(kLong));
      }
      RequestOutcome outcome = sample_outcome("a");
      outcome.http_status = status;
      log->complete(outcome);
    }
    ASSERT_TRUE(log->flush(kLong));
    EXPECT_EQ(log->recent(10).value().size(), 2u);
    EXPECT_EQ(log->recent(10).value()[1].outcome.http_status, 500);
    EXPECT_EQ(log->get("a").value()->outcome.http_status, 200);
    EXPECT_EQ(log->health().dropped, 0u);
  }
}

TEST_P(RequestLogContract, cuts_long_texts_between_characters) {
  const auto log = open_log(url());
  RequestRecord record = sample_record("a");
  record.model = "x";
  while (record.model.size() < 2 * kLongestText) record.model += "é";
  log->begin(record);
  ASSERT_TRUE(log->flush(kLong));
  const std::string model = log->get("a").value()->record.model;
  EXPECT_EQ(model.size(), kLongestText - 1);
  EXPECT_EQ(model, record.model.substr(0, model.size()));
}

TEST_P(RequestLogContract, accepts_entries_from_many_threads) {
  const auto log = open_log(url());
  std::vector<std::thread> loops;
  for (int loop = 0; loop < 4; ++loop) {
    loops.emplace_back([&, loop] {
      for (int i = 0; i < 500; ++i) {
        const std::string id = std::to_string(loop) + "-" + std::to_string(i);
        log->begin(sample_record(id));
        log->complete(sample_outcome(id));
        if (i % 100 == 0) {
          EXPECT_TRUE(log->health().healthy);
        }
      }
    });
  }
  for (std::thread& loop : loops) loop.join();
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->recorded(), 4000u);
  EXPECT_EQ(log->recent(10'000).value().size(), 2000u);
}

TEST(RequestLog, none_forgets_everything_and_is_healthy) {
  const auto log = open_log("none");
  log->begin(sample_record("a"));
  log->complete(sample_outcome("a"));
  EXPECT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->recent(10).value().empty());
  EXPECT_FALSE(log->get("a").value());
  EXPECT_TRUE(log->health().healthy);
}

TEST(RequestLog, an_unknown_scheme_is_told_what_is_supported_without_its_password) {
  for (const char* url : {"mysql://user:hunter2@host/db", "sqlite:", ""}) {
    const auto log = make_request_log(url);
    ASSERT_FALSE(log) << url;
    EXPECT_NE(log.error().message.find(
                  "expected sqlite:PATH, sqlite::memory:, postgresql://HOST/DATABASE or none"),
              std::string::npos);
    EXPECT_EQ(log.error().message.find("hunter2"), std::string::npos);
  }
}

TEST(RequestLog, shows_a_url_without_its_password) {
  EXPECT_EQ(masked_url("sqlite:/var/lib/callgate.db"), "sqlite:/var/lib/callgate.db");
  EXPECT_EQ(masked_url("none"), "none");
  EXPECT_EQ(masked_url("postgresql://me:hunter2@db/log?sslpassword=x"), "postgresql://me@db/log");
}

TEST(RequestLog, synchronous_decides_what_a_commit_waits_for) {
  const ScratchFolder folder;
  EXPECT_EQ(open_migrated(folder.url(), {})->get()->integer("PRAGMA synchronous"), 1);
  DatabaseOptions options;
  options.synchronous = Synchronous::full;
  const auto full = open_migrated(folder.url(), options).value();
  EXPECT_EQ(full->integer("PRAGMA synchronous"), 2);
  EXPECT_EQ(full->integer("PRAGMA secure_delete"), 0);
  EXPECT_EQ(full->integer("PRAGMA temp_store"), 2);
  EXPECT_EQ(full->integer("PRAGMA wal_autocheckpoint"), 4000);
  EXPECT_EQ(full->query("PRAGMA journal_mode").value()[0].text(0), "wal");
}

TEST(RequestLog, full_synchronous_writes_as_well) {
  const ScratchFolder folder;
  RequestLogOptions options;
  options.synchronous = Synchronous::full;
  const auto log = open_log(folder.url(), std::move(options));
  log->begin(sample_record("a"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->get("a").value());
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Microseconds of all threads for one begin() and its complete().
double cost_of_a_pair(RequestLog& log, const std::string& body) {
  constexpr int kPairs = 10'000;
  const double start = cpu_seconds();
  for (int i = 0; i < kPairs; ++i) {
    const std::string id = "req_" + std::to_string(1'000'000 + i);
    RequestRecord record = sample_record(id);
    record.received = body;
    log.begin(std::move(record));
    RequestOutcome outcome = sample_outcome(id);
    outcome.sent = body;
    outcome.response = body;
    log.complete(std::move(outcome));
  }
  EXPECT_TRUE(log.flush(kLong));
  return (cpu_seconds() - start) * 1e6 / kPairs;
}

// Many times what it costs on a small machine: sanitizers and busy neighbours have to fit in. What grows with the number of
// rows does not.
TEST(RequestLog, ten_thousand_pairs_cost_little) {
  const ScratchFolder folder;
  RequestLogOptions options;
  options.queue_limit = 20'000;
  const auto log = open_log(folder.url(), std::move(options));
  const double bare = cost_of_a_pair(*log, "");
  const double with_bodies = cost_of_a_pair(*log, std::string(1024, 'x'));
  RecordProperty("microseconds_per_pair", std::to_string(bare));
  RecordProperty("microseconds_per_pair_with_bodies", std::to_string(with_bodies));
  EXPECT_EQ(log->recorded(), 40'000u);
  EXPECT_LT(bare, 200);
  EXPECT_LT(with_bodies, 400);
}

TEST_P(RequestLogContract, shows_of_requests_with_one_id_those_of_the_key_that_asks) {
  const auto log = open_log(url());
  const auto record = [](const char* key, std::int64_t at) {
    RequestRecord made = sample_record("dup", at);
    made.key_name = key;
    made.received = std::string("asked by ") + key;
    return made;
  };
  const auto outcome = [](const char* key) {
    RequestOutcome made = sample_outcome("dup");
    made.key_name = key;
    made.response = std::string("answer for ") + key;
    made.call_rows = {{.id = "c", .name = key}};
    return made;
  };
  log->begin(record("alice", 1'760'000'000'000));
  log->begin(record("bob", 1'760'000'000'001));
  ASSERT_TRUE(log->flush(kLong));
  log->complete(outcome("alice"));
  log->complete(outcome("bob"));
  ASSERT_TRUE(log->flush(kLong));
  for (const std::string key : {"alice", "bob"}) {
    const RequestName name("dup", key);
    EXPECT_EQ(log->get(name).value()->record.key_name, key);
    EXPECT_EQ(log->content(name).value().received, "asked by " + key);
    EXPECT_EQ(log->content(name).value().response, "answer for " + key);
    EXPECT_EQ(log->calls(name).value().at(0).name, key);
  }
  EXPECT_EQ(log->get(RequestName("dup", "carol")).value()->record.key_name, "bob");
  EXPECT_EQ(log->get("dup").value()->record.key_name, "bob");
}

}  // namespace
}  // namespace callgate::store::request_log_test
