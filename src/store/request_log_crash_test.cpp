// What was acknowledged is there after kill -9, and what was open is marked. CALLGATE_SOAK=1 makes
// it long.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>

#include "store/contract_testing.h"
#include "store/request_log.h"

namespace callgate::store::request_log_crash_test {
namespace {

using std::chrono::milliseconds;

bool soak() { return std::getenv("CALLGATE_SOAK") != nullptr; }

RequestLogOptions impatient() {
  RequestLogOptions options;
  options.linger = milliseconds(1);
  options.batch_rows = 16;
  options.first_retry = milliseconds(5);
  options.last_retry = milliseconds(50);
  return options;
}

// Writes requests until it is killed; every seventh never completes. Says on `out` what is
// acknowledged.
[[noreturn]] void write_until_killed(const std::string& url, const std::string& prefix, int out) {
  RequestLogOptions options = impatient();
  options.on_recorded = [&](std::string_view id, RequestState state) {
    const std::string line = std::string(id) + " " + std::string(to_string(state)) + "\n";
    if (write(out, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(2);
  };
  auto log = make_request_log(url, std::move(options));
  if (!log) _exit(1);
  for (int i = 0;; ++i) {
    const std::string id = prefix + "-" + std::to_string(i);
    RequestRecord record = sample_record(id);
    record.received = "body of " + id;
    (*log)->begin(std::move(record));
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
    RequestOutcome outcome = sample_outcome(id);
    outcome.search = "answer " + id;
    if (i % 7 != 0) (*log)->complete(std::move(outcome));
  }
}

// Kills the child after `lines` acknowledgements and gives all that it said.
std::map<std::string, std::string> run_and_kill(const std::string& url, const std::string& prefix,
                                                int lines) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    write_until_killed(url, prefix, ends[1]);
  }
  close(ends[1]);
  std::FILE* said = fdopen(ends[0], "r");
  std::map<std::string, std::string> acknowledged;
  char id[64];
  char state[64];
  int count = 0;
  while (std::fscanf(said, "%63s %63s", id, state) == 2) {
    acknowledged[id] = state;
    if (++count == lines) kill(child, SIGKILL);
  }
  std::fclose(said);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_GE(count, lines);
  return acknowledged;
}

class RequestLogCrash : public StoreContract {};
CALLGATE_ON_BOTH_ENGINES(RequestLogCrash);

TEST_P(RequestLogCrash, every_acknowledged_row_survives_kill_9) {
  std::mt19937 random(20250117);
  const int rounds = soak() ? 200 : 20;
  std::size_t checked = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string prefix = "r" + std::to_string(round);
    const int lines = static_cast<int>(random() % 150) + 1;
    const auto acknowledged = run_and_kill(url(), prefix, lines);
    const auto log = open_log(url(), impatient());
    for (const auto& [id, state] : acknowledged) {
      const auto row = log->get(id).value();
      ASSERT_TRUE(row) << id;
      if (state == "completed") {
        EXPECT_EQ(row->outcome.state, RequestState::completed) << id;
        EXPECT_EQ(row->outcome.total_ms, 250) << id;
      }
    }
    const std::string& last = acknowledged.rbegin()->first;
    EXPECT_EQ(log->content(last).value().received, "body of " + last);
    checked += acknowledged.size();
  }
  RecordProperty("acknowledged", static_cast<int>(checked));
  // On PostgreSQL a run is taken for dead when it has been silent.
  RequestLogOptions options = impatient();
  options.stale_after = milliseconds(1);
  options.tend_every = milliseconds(5);
  const auto log = open_log(url(), std::move(options));
  EXPECT_TRUE(eventually(
      [&] { return log->search({.state = RequestState::running}).value().rows.empty(); }));
  EXPECT_FALSE(log->search({.state = RequestState::interrupted}).value().rows.empty());
}

// The last transactions of a damaged WAL are gone, those before are there, and the log goes on.
TEST(RequestLogDisk, a_damaged_end_of_the_wal_costs_only_the_last_rows) {
  std::mt19937 random(7);
  for (int round = 0; round < (soak() ? 50 : 5); ++round) {
    const ScratchFolder folder;
    const auto acknowledged = run_and_kill(folder.url(), "r", 300);
    const std::string wal = folder.database() + "-wal";
    const auto size = std::filesystem::file_size(wal);
    const auto damaged = 1 + random() % 3000;
    ASSERT_GT(size, 40'000u);
    if (round % 2 == 0) {
      std::filesystem::resize_file(wal, size - damaged);
    } else {
      std::fstream file(wal, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(static_cast<std::streamoff>(size - damaged));
      for (unsigned i = 0; i < damaged; ++i) file.put(static_cast<char>(random()));
    }
    const auto log = open_log(folder.url(), impatient());
    EXPECT_TRUE(log->health().healthy);
    EXPECT_EQ(log->health().notice, "");
    std::size_t there = 0;
    for (const auto& [id, state] : acknowledged) there += log->get(id).value() ? 1 : 0;
    // A batch is 16 rows; what was written after the last acknowledgement goes first.
    EXPECT_GE(there + 3 * 16, acknowledged.size());
    log->begin(sample_record("new"));
    ASSERT_TRUE(log->flush(kLong));
    EXPECT_TRUE(log->get("new").value());
  }
}

// The caller's clock may jump; rows keep the time that they were given.
TEST_P(RequestLogCrash, a_clock_that_jumps_harms_nothing) {
  const auto log = open_log(url(), impatient());
  const std::int64_t now = 1'760'000'000'000;
  const std::int64_t times[] = {now, now + 86'400'000'000, now - 86'400'000'000, 0, now + 1};
  for (std::size_t i = 0; i < std::size(times); ++i) {
    const std::string id = std::to_string(i);
    log->begin(sample_record(id, times[i]));
    if (i % 2 == 0) {
      ASSERT_TRUE(log->flush(kLong));
    }
    log->complete(sample_outcome(id));
  }
  ASSERT_TRUE(log->flush(kLong));
  std::string order;
  RequestFilter filter{.state = RequestState::completed, .limit = 2};
  do {
    const RequestPage page = log->search(filter).value();
    for (const RequestRow& row : page.rows) order += row.record.id;
    filter.cursor = page.cursor;
  } while (!filter.cursor.empty());
  EXPECT_EQ(order, "14023");
  EXPECT_EQ(log->health().dropped, 0u);
}

TEST(RequestLogCrash_postgresql, a_server_that_restarts_under_load_loses_nothing) {
  const ScratchFolder folder;
  const std::string url = shared_postgres().new_store();
  RequestLogOptions options = impatient();
  options.journal = folder.path() + "/journal";
  options.connect_timeout = milliseconds(500);
  std::mutex mutex;
  std::map<std::string, int> acknowledged;
  options.on_recorded = [&](std::string_view id, RequestState state) {
    const std::lock_guard lock(mutex);
    if (state == RequestState::completed) ++acknowledged[std::string(id)];
  };
  const auto log = open_log(url, std::move(options));
  std::atomic<bool> stop = false;
  int written = 0;
  std::thread load([&] {
    for (; !stop; ++written) {
      const std::string id = "r" + std::to_string(written);
      log->begin(sample_record(id));
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      log->complete(sample_outcome(id));
    }
  });
  for (int round = 0; round < (soak() ? 20 : 2); ++round) {
    const Health before = log->health();
    EXPECT_TRUE(eventually([&] { return log->recorded() > before.recorded + 50; }));
    shared_postgres().stop();
    EXPECT_TRUE(eventually([&] { return log->health().spooled > before.spooled + 50; }));
    shared_postgres().start();
  }
  const std::uint64_t recorded = log->recorded();
  EXPECT_TRUE(eventually([&] { return log->recorded() > recorded; }));
  stop = true;
  load.join();
  ASSERT_TRUE(log->flush(kLong));
  ASSERT_TRUE(eventually([&] { return log->health().journal_bytes == 0; }));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->health().dropped, 0u);
  EXPECT_GT(log->health().spooled, 0u);
  const std::lock_guard lock(mutex);
  // A commit whose answer was lost is found to be there, but nobody is told of it.
  EXPECT_LE(acknowledged.size(), static_cast<std::size_t>(written));
  const auto database = open_database(url, {}).value();
  EXPECT_EQ(database->integer("SELECT count(*) FROM request WHERE state = 'completed'"), written);
  EXPECT_EQ(database->integer("SELECT count(*) FROM request"), written);
  shared_postgres().give_back(url);
}

// A process that was cut off is taken for dead, comes back, and completes its rows after all.
TEST(RequestLogCrash_postgresql, a_run_that_was_taken_for_dead_goes_on) {
  const std::string url = shared_postgres().new_store();
  const auto first = open_log(url, impatient());
  first->begin(sample_record("a"));
  ASSERT_TRUE(first->flush(kLong));
  RequestLogOptions options = impatient();
  options.stale_after = milliseconds(1);
  options.tend_every = milliseconds(5);
  const auto second = open_log(url, std::move(options));
  ASSERT_TRUE(eventually(
      [&] { return second->get("a").value()->outcome.state == RequestState::interrupted; }));
  first->complete(sample_outcome("a"));
  ASSERT_TRUE(first->flush(kLong));
  EXPECT_EQ(second->get("a").value()->outcome.state, RequestState::completed);
  EXPECT_EQ(first->health().dropped, 0u);
}

// A file system of its own, where that is allowed.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    mounted_ = mount("callgate", path.c_str(), "tmpfs", 0, "size=2m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  const std::string path_;
  bool mounted_ = false;
};

TEST(RequestLogDisk, a_full_disk_keeps_what_fits_and_goes_on_when_there_is_room) {
  const ScratchFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.mounted()) GTEST_SKIP() << "mounting is not allowed here";
  const std::string ballast = folder.path() + "/ballast";
  std::ofstream(ballast) << std::string(1u << 20, 'x');
  RequestLogOptions options = impatient();
  options.queue_limit = 100'000;
  options.journal = folder.path() + "/journal";
  const auto log = open_log(folder.url(), std::move(options));
  int written = 0;
  const auto write_one = [&] {
    const std::string id = std::to_string(written++);
    log->begin(sample_record(id));
    log->complete(sample_outcome(id));
  };
  // One at a time, so that the size of the disk decides how many there are, and not the speed.
  while (log->health().errors == 0) {
    ASSERT_LT(written, 10'000);
    write_one();
    ASSERT_TRUE(eventually([&] {
      const Health health = log->health();
      return health.queued == 0 || health.errors > 0;
    }));
  }
  for (int i = 0; i < 50; ++i) write_one();
  std::filesystem::remove(ballast);
  ASSERT_TRUE(log->flush(kLong));
  ASSERT_TRUE(eventually([&] { return log->health().journal_bytes == 0; }));
  EXPECT_EQ(log->health().dropped, 0u);
  EXPECT_EQ(log->recent(1'000'000).value().size(), static_cast<std::size_t>(written));
}

}  // namespace
}  // namespace callgate::store::request_log_crash_test
