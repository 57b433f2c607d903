#include "store/journal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/contract_testing.h"
#include "store/migration.h"
#include "store/request_query.h"

namespace callgate::store::journal_test {
namespace {

using std::chrono::milliseconds;

class JournalFile : public testing::Test {
 protected:
  Journal open(std::uint64_t limit = 1u << 20) { return Journal::open(path_, limit).value(); }
  ScratchFolder folder_;
  const std::string path_ = folder_.path() + "/journal";
};

TEST_F(JournalFile, gives_back_texts_that_older_versions_did_not_know) {
  RequestOutcome outcome = sample_outcome("a");
  outcome.call_rows = {{"d", "fetch", CallOutcome::complete, CallResult{.round = 1}}};
  const Write write{.outcome = &outcome, .key = {5, 6, 7}};
  const SpooledWrite read = decode_write(encode_write(write, true)).value();
  EXPECT_EQ(read.outcome->repair_names, outcome.repair_names);
  EXPECT_EQ(read.outcome->missed_call, outcome.missed_call);
  EXPECT_EQ(read.outcome->call_rows[0].result->round, 1);
}

TEST_F(JournalFile, gives_back_every_field) {
  RequestRecord record = sample_record("a");
  record.session = "s";
  record.trace_id = "t";
  record.received = std::string("\0body", 5);
  RequestOutcome outcome = sample_outcome("a");
  outcome.error_code = "code";
  outcome.error_message = "message";
  outcome.cut = "stop_after_tools";
  outcome.repair_names.clear();  // in a test of their own
  outcome.missed_call.clear();
  outcome.call_rows = {
      {"c", "search", CallOutcome::truncated, std::nullopt},
      {"d", "fetch", CallOutcome::complete,
       CallResult{.round = 1, .is_error = true, .duration_ms = 7, .bytes = 9, .text = "gone"}}};
  outcome.sent = "1";
  outcome.response = "2";
  outcome.events = "3";
  outcome.search = "4";
  const Write both{.record = &record, .outcome = &outcome, .key = {5, 6, 7}};
  const std::string payload = encode_write(both, true);
  const SpooledWrite read = decode_write(payload).value();
  EXPECT_EQ(read.key.seq(), both.key.seq());
  EXPECT_EQ(read.key.received_at, 7);
  EXPECT_EQ(read.record->session, "s");
  EXPECT_EQ(read.record->received, record.received);
  EXPECT_EQ(read.outcome->call_rows[0].name, "search");
  EXPECT_EQ(read.outcome->call_rows[0].outcome, CallOutcome::truncated);
  EXPECT_FALSE(read.outcome->call_rows[0].result);
  ASSERT_TRUE(read.outcome->call_rows[1].result);
  EXPECT_TRUE(read.outcome->call_rows[1].result->is_error);
  EXPECT_EQ(read.outcome->call_rows[1].result->duration_ms, 7);
  EXPECT_EQ(read.outcome->call_rows[1].result->text, "gone");
  // Written again it is the same, so nothing else is missing either.
  const Write again{.record = &*read.record, .outcome = &*read.outcome, .key = read.key};
  EXPECT_EQ(encode_write(again, true), payload);
  const std::size_t results = 5 * 8 + 4 + 4;  // of the one call; older versions wrote none
  EXPECT_FALSE(
      decode_write(payload.substr(0, payload.size() - results))->outcome->call_rows[1].result);
  const std::size_t whose = 8 + 4 + outcome.key_name.size();  // likewise
  for (std::size_t cut = 0; cut < payload.size(); ++cut) {
    if (cut == payload.size() - results || cut == payload.size() - results - whose) continue;
    EXPECT_FALSE(decode_write(payload.substr(0, cut))) << cut;
  }
  EXPECT_EQ(decode_write(encode_write(both, false))->outcome->response, "");
}

TEST_F(JournalFile, gives_back_every_field_as_it_was) {
  const RequestRecord record = full_record("a");
  const RequestOutcome outcome = full_outcome("a");
  const Write both{.record = &record, .outcome = &outcome, .key = {5, 6, 7}};
  const SpooledWrite read = decode_write(encode_write(both, true)).value();
  EXPECT_EQ(read.record, record);
  EXPECT_EQ(read.outcome, outcome);
  EXPECT_EQ(read.key.run, 5);
  EXPECT_EQ(read.key.number, 6);
  EXPECT_EQ(read.key.received_at, 7);
}

TEST_F(JournalFile, leaves_out_bodies_and_nothing_else) {
  const RequestRecord record = full_record("a");
  const RequestOutcome outcome = full_outcome("a");
  const Write both{.record = &record, .outcome = &outcome, .key = {5, 6, 7}};
  RequestRecord bare_record = record;
  bare_record.received.clear();
  RequestOutcome bare = outcome;
  for (std::string* body :
       {&bare.sent, &bare.response, &bare.events, &bare.search, &bare.call_rows[1].result->text}) {
    body->clear();
  }
  const SpooledWrite read = decode_write(encode_write(both, false)).value();
  EXPECT_EQ(read.record, bare_record);
  EXPECT_EQ(read.outcome, bare);
}

TEST_F(JournalFile, keeps_what_is_not_known_unknown) {
  RequestOutcome outcome{.id = "a", .state = RequestState::disconnected};
  const Write end{.outcome = &outcome, .key = {5, 6, 7}};
  const SpooledWrite read = decode_write(encode_write(end, true)).value();
  EXPECT_FALSE(read.record);
  EXPECT_EQ(read.outcome, outcome);
  const RequestRecord record{.id = "a"};
  const Write begin{.record = &record, .key = {5, 6, 7}};
  EXPECT_EQ(decode_write(encode_write(begin, true))->record, record);
  EXPECT_FALSE(decode_write(encode_write(begin, true))->outcome);
}

// Notes alone, either of the two, come back as well.
TEST_F(JournalFile, keeps_either_note) {
  for (const bool repaired : {true, false}) {
    RequestOutcome outcome{.id = "a"};
    (repaired ? outcome.repair_names : outcome.missed_call) = "x";
    const Write end{.outcome = &outcome, .key = {5, 6, 7}};
    EXPECT_EQ(decode_write(encode_write(end, true))->outcome, outcome);
  }
}

TEST_F(JournalFile, takes_a_record_that_fills_it_to_the_last_byte) {
  const RequestRecord record = sample_record("a");
  const std::vector<Write> one(1, Write{.record = &record, .key = {1, 1, 1}});
  std::uint64_t full = 0;
  {
    Journal journal = open();
    ASSERT_EQ(journal.append(one), 1u);
    full = journal.end();
    ASSERT_TRUE(journal.clear());
  }
  EXPECT_EQ(open(full).append(one), 1u);
  std::filesystem::remove(path_);
  EXPECT_EQ(open(full - 1).append(one), 0u);
}

TEST_F(JournalFile, reads_as_many_as_asked_for_and_knows_flipped_bits) {
  const RequestRecord record = sample_record("a");
  const std::vector<Write> writes(3, Write{.record = &record, .key = {1, 1, 1}});
  Journal journal = open();
  ASSERT_EQ(journal.append(writes), 3u);
  EXPECT_EQ(journal.read(journal.begin(), 0).value().writes.size(), 0u);
  const Journal::Page all = journal.read(journal.begin(), 3).value();
  EXPECT_EQ(all.writes.size(), 3u);
  EXPECT_EQ(all.next, journal.end());
  EXPECT_FALSE(all.damaged);
  {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(journal.end() - 1));
    file.put('!');
  }
  const Journal::Page damaged = journal.read(journal.begin(), 3).value();
  EXPECT_EQ(damaged.writes.size(), 2u);
  EXPECT_TRUE(damaged.damaged);
}

TEST_F(JournalFile, keeps_records_over_a_restart_and_is_cut_at_damage) {
  const RequestRecord record = sample_record("a");
  const std::vector<Write> writes(10, Write{.record = &record, .key = {1, 1, 1}});
  std::string id;
  {
    Journal journal = open();
    EXPECT_TRUE(journal.empty());
    EXPECT_EQ(journal.append(writes), 10u);
    id = journal.id();
    EXPECT_EQ(Journal::open(path_, 1000).error().kind, FaultKind::busy);
  }
  // A write that was cut off.
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 3);
  Journal journal = open();
  EXPECT_EQ(journal.id(), id);
  const Journal::Page first = journal.read(journal.begin(), 4).value();
  EXPECT_EQ(first.writes.size(), 4u);
  EXPECT_FALSE(first.damaged);
  const Journal::Page second = journal.read(first.next, 100).value();
  EXPECT_EQ(second.writes.size(), 5u);
  EXPECT_FALSE(second.damaged);
  EXPECT_EQ(second.next, journal.end());
  EXPECT_GT(journal.cut(), 0u);
  EXPECT_EQ(journal.end(), std::filesystem::file_size(path_));
  // What comes next is found again.
  EXPECT_EQ(journal.append(writes), 10u);
  EXPECT_EQ(journal.read(journal.begin(), 100).value().writes.size(), 19u);
  ASSERT_TRUE(journal.clear());
  EXPECT_TRUE(journal.empty());
  EXPECT_NE(journal.id(), id);
}

TEST_F(JournalFile, gives_up_bodies_before_rows_when_it_gets_full) {
  RequestRecord record = sample_record("a");
  record.received = std::string(1000, 'x');
  const std::vector<Write> writes(60, Write{.record = &record, .key = {1, 1, 1}});
  Journal journal = open(20'000);
  const std::size_t count = journal.append(writes).value();
  EXPECT_GT(count, 20u);
  EXPECT_LT(count, 60u);
  EXPECT_LE(journal.end(), 20'000u);
  const Journal::Page page = journal.read(journal.begin(), 100).value();
  ASSERT_EQ(page.writes.size(), count);
  EXPECT_EQ(page.writes.front().record->received.size(), 1000u);
  EXPECT_EQ(page.writes.back().record->received.size(), 0u);
}

TEST_F(JournalFile, leaves_the_file_of_another_program_alone) {
  std::ofstream(path_) << std::string(100, 'x');
  EXPECT_EQ(Journal::open(path_, 1000).error().kind, FaultKind::not_ours);
}

class JournalContract : public StoreContract {
 protected:
  RequestLogOptions options() {
    RequestLogOptions options;
    options.linger = milliseconds(1);
    options.busy_timeout = milliseconds(1);
    options.first_retry = milliseconds(2);
    options.last_retry = milliseconds(10);
    options.journal = folder() + "/journal";
    return options;
  }
  // Nothing can be written while it is held.
  void lock() {
    holder_ = open_migrated(url(), {}).value();
    if (is_sqlite()) {
      ASSERT_TRUE(holder_->run("BEGIN EXCLUSIVE"));
    } else {
      ASSERT_TRUE(holder_->run("ALTER TABLE request RENAME TO hidden"));
    }
  }
  void unlock() {
    ASSERT_TRUE(holder_->run(is_sqlite() ? "ROLLBACK" : "ALTER TABLE hidden RENAME TO request"));
    holder_.reset();
  }
  std::unique_ptr<Database> holder_;
};
CALLGATE_ON_BOTH_ENGINES(JournalContract);

TEST_P(JournalContract, takes_what_the_store_cannot_and_gives_it_back_in_order) {
  const auto log = open_log(url(), options());
  log->begin(sample_record("before"));
  ASSERT_TRUE(log->flush(kLong));
  lock();
  log->complete(sample_outcome("before"));
  for (int i = 0; i < 600; ++i) {
    const std::string id = "r" + std::to_string(i);
    RequestRecord record = sample_record(id);
    record.received = "{}";
    log->begin(std::move(record));
    if (i % 100 == 0) {
      ASSERT_TRUE(log->flush(kLong));
    }
    if (i != 599) log->complete(sample_outcome(id));
  }
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->is_down());
  EXPECT_EQ(log->health().spooled, 1200u);
  EXPECT_GT(log->health().journal_bytes, 0u);
  EXPECT_EQ(log->health().dropped, 0u);
  unlock();
  ASSERT_TRUE(eventually([&] { return log->health().journal_bytes == 0; }));
  log->complete(sample_outcome("r599"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->health().healthy);
  EXPECT_EQ(log->recorded(), 1202u);
  EXPECT_EQ(log->search({.state = RequestState::completed, .limit = 1000}).value().rows.size(),
            601u);
  EXPECT_EQ(log->content("r7").value().received, "{}");
}

TEST_P(JournalContract, outlives_the_process) {
  {
    const auto log = open_log(url(), options());
    log->begin(sample_record("a"));
    ASSERT_TRUE(log->flush(kLong));
    lock();
    log->complete(sample_outcome("a"));
    log->begin(sample_record("b"));
    log->complete(sample_outcome("b"));
    log->begin(sample_record("c"));
    ASSERT_TRUE(log->flush(kLong));
  }
  unlock();
  const auto log = open_log(url(), options());
  ASSERT_TRUE(eventually([&] { return log->health().journal_bytes == 0; }));
  EXPECT_EQ(log->get("a").value()->outcome.state, RequestState::completed);
  EXPECT_EQ(log->get("b").value()->outcome.state, RequestState::completed);
  EXPECT_TRUE(log->get("c").value());
  EXPECT_EQ(log->recent(10).value().size(), 3u);
}

// A process that was killed in the middle of a write leaves half a record. What the next process writes comes after it.
TEST_P(JournalContract, takes_rows_behind_half_a_record) {
  const std::string path = options().journal;
  for (const std::size_t whole : {0u, 2u}) {
    const RequestRecord left = sample_record("left");
    const std::vector<Write> writes(whole + 1, Write{.record = &left});
    {
      Journal journal = Journal::open(path, 1u << 20).value();
      ASSERT_EQ(journal.append(writes), writes.size());
    }
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
    const std::string id = "own" + std::to_string(whole);
    lock();
    const auto log = open_log(url(), options());
    log->begin(sample_record(id));
    log->complete(sample_outcome(id));
    ASSERT_TRUE(log->flush(kLong));
    unlock();
    ASSERT_TRUE(eventually([&] { return log->health().journal_bytes == 0; }));
    ASSERT_TRUE(log->get(id).value()) << whole;
    EXPECT_EQ(log->get(id).value()->outcome.state, RequestState::completed);
    EXPECT_EQ(log->health().dropped, 0u);
  }
  EXPECT_EQ(open_log(url(), options())->recent(10).value().size(), 4u);
}

TEST_P(JournalContract, is_replayed_from_where_the_store_remembers) {
  RequestLogOptions with_journal = options();
  const RequestRecord record = sample_record("a");
  const std::vector<Write> writes(5, Write{.record = &record});
  {
    Journal journal = Journal::open(with_journal.journal, 1u << 20).value();
    ASSERT_EQ(journal.append(writes), 5u);
    const std::uint64_t third = journal.read(journal.begin(), 3).value().next;
    const auto database = open_migrated(url(), {}).value();
    ASSERT_TRUE(database->run("INSERT INTO journal (id, replayed) VALUES ('" + journal.id() +
                              "', " + std::to_string(third) + ")"));
  }
  const auto log = open_log(url(), with_journal);
  ASSERT_TRUE(eventually([&] { return log->health().journal_bytes == 0; }));
  EXPECT_EQ(log->recent(10).value().size(), 2u);
}

TEST(JournalLoss, is_put_back_with_what_it_holds_when_it_is_deleted) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/journal";
  Journal journal = Journal::open(path, 1 << 20).value();
  const RequestRecord record = full_record("a");
  const Write write{.record = &record, .key = {1, 2, 3}};
  ASSERT_EQ(journal.append({&write, 1}).value(), 1u);
  const std::string id = journal.id();
  std::filesystem::remove(path);
  ASSERT_TRUE(journal.restore(path));
  ASSERT_EQ(journal.append({&write, 1}).value(), 1u);
  EXPECT_EQ(journal.id(), id);
  EXPECT_EQ(std::filesystem::file_size(path), journal.end());
  EXPECT_EQ(journal.read(journal.begin(), 9).value().writes.size(), 2u);
}

TEST(JournalLoss, says_when_it_was_cut_and_begins_anew) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/journal";
  Journal journal = Journal::open(path, 1 << 20).value();
  const RequestRecord record = full_record("a");
  const Write write{.record = &record, .key = {1, 2, 3}};
  ASSERT_EQ(journal.append({&write, 1}).value(), 1u);
  std::filesystem::resize_file(path, 5);
  EXPECT_EQ(journal.restore(path).error().kind, FaultKind::truncated);
  EXPECT_TRUE(journal.restore(path));
  ASSERT_EQ(journal.append({&write, 1}).value(), 1u);
  EXPECT_EQ(journal.read(journal.begin(), 9).value().writes.size(), 1u);
}

}  // namespace
}  // namespace callgate::store::journal_test
