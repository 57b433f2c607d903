// What a broken store does to the log: full, locked, damaged, foreign, too new.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "store/migration.h"
#include "store/request_log.h"
#include "store/scratch_testing.h"
#include "store/sqlite.h"
#include "store/sqlite_run.h"

namespace callgate::store::request_log_fault_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

RequestLogOptions impatient() {
  RequestLogOptions options;
  options.linger = milliseconds(1);
  options.busy_timeout = milliseconds(1);
  options.first_retry = milliseconds(2);
  options.last_retry = milliseconds(10);
  options.close_timeout = milliseconds(50);
  return options;
}

std::unique_ptr<RequestLog> open(const std::string& url, RequestLogOptions options) {
  auto log = make_request_log(url, std::move(options));
  EXPECT_TRUE(log) << log.error().message;
  return std::move(*log);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void fill_database(const ScratchFolder& folder) {
  const auto log = open(folder.url(), impatient());
  for (int i = 0; i < 50; ++i) log->begin(sample_record(std::to_string(i)));
  EXPECT_TRUE(log->flush(kLong));
}

// Leaves the header of the first page as it is.
void damage(const std::string& path) {
  std::string bytes = read_file(path);
  ASSERT_GT(bytes.size(), 8192u);
  std::fill(bytes.begin() + 4096, bytes.end(), 'Z');
  write_file(path, bytes);
}

std::vector<std::string> moved_aside(const ScratchFolder& folder) {
  std::vector<std::string> found;
  for (const auto& file : fs::directory_iterator(folder.path())) {
    if (file.path().string().find(".corrupt-") != std::string::npos) {
      found.push_back(file.path().string());
    }
  }
  return found;
}

TEST(RequestLogFault, a_full_disk_is_told_counted_and_healed) {
  const ScratchFolder folder;
  RequestLogOptions options = impatient();
  options.max_pages = 90;
  options.queue_limit = 200;
  const auto log = open(folder.url(), std::move(options));
  int id = 0;
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i) log->begin(sample_record(std::to_string(id++)));
    // A slow writer drops records as well, before the disk is full.
    const Health health = log->health();
    return !health.healthy && health.dropped > 0 && health.queued == 200u;
  }));
  const Health ill = log->health();
  EXPECT_NE(ill.problem.find("full"), std::string::npos) << ill.problem;
  EXPECT_GT(ill.errors, 0u);
  EXPECT_EQ(ill.queued, 200u);

  Connection other = Connection::open(folder.database(), kLong).value();
  ASSERT_TRUE(other.run("DELETE FROM request"));
  EXPECT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->health().healthy);
  EXPECT_EQ(log->health().recorded + log->health().dropped, static_cast<std::uint64_t>(id));
}

class LockedByAnotherProcess {
 public:
  explicit LockedByAnotherProcess(const std::string& path) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      auto connection = Connection::open(path, kLong);
      const bool locked = connection && connection->run("BEGIN EXCLUSIVE");
      if (write(ready[1], locked ? "y" : "n", 1) == 1) pause();
      _exit(0);
    }
    char answer = 0;
    EXPECT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    close(ready[0]);
    close(ready[1]);
  }
  ~LockedByAnotherProcess() { release(); }

  void release() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
};

TEST(RequestLogFault, a_locked_file_keeps_entries_until_it_is_free) {
  const ScratchFolder folder;
  fill_database(folder);
  LockedByAnotherProcess locked(folder.database());
  const auto log = open(folder.url(), impatient());
  log->begin(sample_record("x"));
  log->complete(sample_outcome("x"));
  ASSERT_TRUE(eventually([&] { return log->health().errors >= 3; }));
  EXPECT_FALSE(log->health().healthy);
  EXPECT_NE(log->health().problem.find("locked"), std::string::npos) << log->health().problem;
  EXPECT_EQ(log->health().queued, 2u);
  EXPECT_FALSE(log->flush(milliseconds(1)));

  locked.release();
  EXPECT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->health().healthy);
  EXPECT_EQ(log->get("x").value()->outcome.state, RequestState::completed);
}

TEST(RequestLogFault, a_log_that_could_not_be_opened_heals_without_traffic) {
  const ScratchFolder folder;
  fill_database(folder);
  LockedByAnotherProcess locked(folder.database());
  const auto log = open(folder.url(), impatient());
  EXPECT_FALSE(log->health().healthy);
  EXPECT_FALSE(log->recent(1));
  locked.release();
  EXPECT_TRUE(eventually([&] { return log->health().healthy; }));
  EXPECT_EQ(log->recent(100).value().size(), 50u);
}

TEST(RequestLogFault, closing_does_not_wait_for_a_lock_forever) {
  const ScratchFolder folder;
  fill_database(folder);
  const LockedByAnotherProcess locked(folder.database());
  auto log = open(folder.url(), impatient());
  log->begin(sample_record("x"));
  const auto start = std::chrono::steady_clock::now();
  log.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLong / 2);
}

// What the reports say in all: bodies that were lost, records that were dropped.
std::pair<int, int> sum_of_reports(const std::vector<std::string>& problems) {
  std::pair<int, int> sum{0, 0};
  for (const std::string& problem : problems) {
    const std::size_t at = problem.find("faster than they are written: ");
    int shed = 0;
    int dropped = 0;
    if (at == std::string::npos) continue;
    EXPECT_EQ(std::sscanf(problem.c_str() + at,
                          "faster than they are written: %d lost their bodies, %d were dropped",
                          &shed, &dropped),
              2)
        << problem;
    sum.first += shed;
    sum.second += dropped;
  }
  return sum;
}

TEST(RequestLogFault, what_the_queue_could_not_take_is_reported_once_in_a_while_and_at_the_end) {
  for (const milliseconds pause : {milliseconds(0), kLong * 100}) {
    const ScratchFolder folder;
    fill_database(folder);
    LockedByAnotherProcess locked(folder.database());
    std::mutex mutex;
    std::vector<std::string> problems;
    RequestLogOptions options = impatient();
    options.queue_limit = 3;
    options.queue_bytes = 10;
    options.report_every = pause;
    options.on_problem = [&](std::string_view problem) {
      const std::lock_guard lock(mutex);
      problems.emplace_back(problem);
    };
    auto log = open(folder.url(), std::move(options));
    for (int i = 0; i < 5; ++i) {
      RequestRecord record = sample_record(std::to_string(i));
      record.received = "0123456789";
      log->begin(record);
    }
    EXPECT_EQ(log->health().shed, 2u);
    EXPECT_EQ(log->health().dropped, 2u);
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return sum_of_reports(problems) != std::pair(0, 0);
    }));
    log->begin(sample_record("5"));
    log.reset();
    EXPECT_EQ(sum_of_reports(problems), std::pair(2, 3));
    if (pause > milliseconds(0)) {
      std::erase_if(problems, [](const std::string& problem) {
        return problem.find("faster") == std::string::npos;
      });
      EXPECT_LE(problems.size(), 2u);
    }
  }
}

TEST(RequestLogFault, a_damaged_file_is_kept_aside_and_a_new_one_begun) {
  const ScratchFolder folder;
  fill_database(folder);
  damage(folder.database());
  const std::string before = read_file(folder.database());

  std::string told;
  RequestLogOptions options = impatient();
  options.on_problem = [&](std::string_view problem) { told = problem; };
  const auto log = open(folder.url(), std::move(options));
  log->begin(sample_record("x"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->health().healthy);
  EXPECT_EQ(log->recent(100).value().size(), 1u);
  EXPECT_NE(log->health().notice.find("is kept as"), std::string::npos);
  EXPECT_NE(told.find("malformed"), std::string::npos) << told;
  EXPECT_EQ(log->health().errors, 1u);
  ASSERT_EQ(moved_aside(folder).size(), 1u);
  EXPECT_EQ(read_file(moved_aside(folder)[0]), before);
}

TEST(RequestLogFault, a_file_damaged_under_way_is_replaced) {
  const ScratchFolder folder;
  const auto log = open(folder.url(), impatient());
  for (int i = 0; i < 50; ++i) log->begin(sample_record(std::to_string(i)));
  ASSERT_TRUE(log->flush(kLong));
  {
    Connection other = Connection::open(folder.database(), kLong).value();
    ASSERT_TRUE(
        other.run("PRAGMA writable_schema = ON;"
                  "UPDATE sqlite_schema SET rootpage = 3000 WHERE name = 'request';"
                  "PRAGMA schema_version = 4711"));
  }
  log->begin(sample_record("x"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_TRUE(log->health().healthy);
  EXPECT_NE(log->health().notice.find("is kept as"), std::string::npos);
  EXPECT_TRUE(log->get("x").value());
}

TEST(RequestLogFault, a_damaged_file_that_another_process_uses_is_left_alone) {
  const ScratchFolder folder;
  fill_database(folder);
  damage(folder.database());
  const std::string before = read_file(folder.database());
  auto company = RunLock::open(folder.database()).value();
  ASSERT_TRUE(company.take(1));
  const auto log = open(folder.url(), impatient());
  EXPECT_FALSE(log->health().healthy);
  EXPECT_NE(log->health().problem.find("another process uses the file"), std::string::npos);
  EXPECT_TRUE(moved_aside(folder).empty());
  EXPECT_EQ(read_file(folder.database()), before);
}

TEST(RequestLogFault, a_file_that_is_no_database_is_refused_and_left_alone) {
  const ScratchFolder folder;
  const std::string letter(500, 'x');
  write_file(folder.database(), letter);
  const auto log = make_request_log(folder.url());
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("file is not a database"), std::string::npos);
  EXPECT_EQ(read_file(folder.database()), letter);
}

TEST(RequestLogFault, the_database_of_another_program_is_refused_and_left_alone) {
  const ScratchFolder folder;
  {
    Connection connection = Connection::open(folder.database(), kLong).value();
    ASSERT_TRUE(connection.run("CREATE TABLE photos (x)"));
  }
  const std::string before = read_file(folder.database());
  const auto log = make_request_log(folder.url());
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("belongs to another program"), std::string::npos);
  EXPECT_EQ(read_file(folder.database()), before);
}

TEST(RequestLogFault, a_newer_schema_is_refused) {
  const ScratchFolder folder;
  fill_database(folder);
  {
    Connection connection = Connection::open(folder.database(), kLong).value();
    ASSERT_TRUE(connection.run("PRAGMA user_version = 1000"));
  }
  const auto log = make_request_log(folder.url());
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("schema version 1000 is newer than"), std::string::npos);
}

TEST(RequestLogFault, a_path_that_cannot_be_opened_is_refused) {
  const ScratchFolder folder;
  const auto missing = make_request_log("sqlite:" + folder.path() + "/no/such/folder/log.db");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("cannot open"), std::string::npos);
  EXPECT_FALSE(make_request_log("sqlite:" + folder.path()));
}

}  // namespace
}  // namespace callgate::store::request_log_fault_test
