#include "store/sqlite_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/scratch_testing.h"
#include "store/sessions.h"
#include "store/sqlite.h"

namespace callgate::store::sqlite_files_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

RequestLogOptions impatient_with(bool recreate) {
  RequestLogOptions options;
  options.first_retry = milliseconds(5);
  options.last_retry = milliseconds(50);
  options.linger = milliseconds(0);
  options.recreate = recreate;
  return options;
}

std::unique_ptr<RequestLog> open_at(const ScratchFolder& folder, bool recreate = true) {
  return std::move(make_request_log(folder.url(), impatient_with(recreate)).value());
}

void record(RequestLog& log, const std::string& id) {
  log.begin(sample_record(id));
  log.complete(sample_outcome(id));
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class SqliteFileModes : public testing::TestWithParam<mode_t> {
 protected:
  SqliteFileModes() : before_(::umask(GetParam())) {}
  ~SqliteFileModes() override { ::umask(before_); }

 private:
  const mode_t before_;
};

TEST_P(SqliteFileModes, are_for_the_owner_alone_whatever_the_umask_says) {
  const ScratchFolder folder;
  RequestLogOptions options = impatient_with(true);
  options.journal = folder.path() + "/journal";
  const auto log = std::move(make_request_log(folder.url(), options).value());
  record(*log, "a");
  ASSERT_TRUE(log->flush(kLong));
  ASSERT_TRUE(log->get("a").value());
  for (const char* part : {"", "-wal", "-shm", "-runs"}) {
    EXPECT_EQ(mode_of(folder.database() + part), 0600u) << part;
  }
}
INSTANTIATE_TEST_SUITE_P(umasks, SqliteFileModes, testing::Values(0, 022, 077));

TEST(SqliteFiles, of_an_older_version_are_closed_to_others) {
  const ScratchFolder folder;
  record(*open_at(folder), "a");
  fs::permissions(folder.database(), fs::perms(0644));
  const auto log = open_at(folder);
  EXPECT_EQ(mode_of(folder.database()), 0600u);
  EXPECT_EQ(mode_of(folder.database() + "-wal"), 0600u);
}

void delete_all(const ScratchFolder& folder) {
  for (const char* part : {"", "-wal", "-shm", "-runs"}) fs::remove(folder.database() + part);
}
void delete_database(const ScratchFolder& folder) { fs::remove(folder.database()); }
void delete_log(const ScratchFolder& folder) { fs::remove(folder.database() + "-wal"); }
void truncate_whole(const ScratchFolder& folder) { fs::resize_file(folder.database(), 0); }
void truncate_half(const ScratchFolder& folder) { fs::resize_file(folder.database(), 8192); }
void replace_by_empty(const ScratchFolder& folder) {
  std::ofstream(folder.path() + "/new").close();
  fs::rename(folder.path() + "/new", folder.database());
}
void replace_by_copy(const ScratchFolder& folder) {
  for (const char* part : {"", "-wal"}) {
    fs::copy_file(folder.database() + part, folder.path() + "/new" + part);
  }
  fs::remove(folder.database() + "-shm");
  for (const char* part : {"-wal", ""}) {
    fs::rename(folder.path() + "/new" + part, folder.database() + part);
  }
}

struct Loss {
  const char* name;
  void (*happen)(const ScratchFolder&);
  const char* words;   // of the report
  bool heals = false;  // also when nothing may be made anew: a database is there
};

class SqliteLoss : public testing::TestWithParam<Loss> {
 protected:
  // Enough for some pages in the file itself.
  void fill(RequestLog& log) {
    for (int i = 0; i < 200; ++i) record(log, std::to_string(i));
    ASSERT_TRUE(log.flush(kLong));
    Connection other = Connection::open(folder_.database(), kLong).value();
    ASSERT_TRUE(other.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  ScratchFolder folder_;
};

TEST_P(SqliteLoss, is_noticed_without_traffic_reported_and_made_good) {
  const auto log = open_at(folder_);
  fill(*log);
  GetParam().happen(folder_);
  ASSERT_TRUE(eventually([&] { return !log->health().notice.empty(); }));
  EXPECT_NE(log->health().notice.find(GetParam().words), std::string::npos) << log->health().notice;
  EXPECT_TRUE(eventually([&] { return log->health().healthy; }));
  record(*log, "after");
  ASSERT_TRUE(log->flush(kLong));
  // Another process finds it: it is in the file that the path leads to.
  const auto reader = open_at(folder_);
  EXPECT_TRUE(reader->get("after").value());
}

TEST_P(SqliteLoss, is_a_fault_until_there_is_a_file_again_when_nothing_may_be_made_anew) {
  const auto log = open_at(folder_, false);
  fill(*log);
  GetParam().happen(folder_);
  if (GetParam().heals) {
    ASSERT_TRUE(eventually([&] { return !log->health().notice.empty(); }));
    EXPECT_TRUE(eventually([&] { return log->health().healthy; }));
    return;
  }
  ASSERT_TRUE(eventually([&] { return log->is_down() && log->health().errors > 2; }));
  EXPECT_FALSE(log->health().healthy);
  EXPECT_FALSE(fs::exists(folder_.database()) && fs::file_size(folder_.database()) > 8192);
  // An operator brings a copy back.
  const ScratchFolder other;
  record(*open_at(other), "copied");
  for (const char* part : {"-wal", "-shm"}) fs::remove(folder_.database() + part);
  fs::copy_file(other.database(), folder_.path() + "/copy");
  fs::rename(folder_.path() + "/copy", folder_.database());
  ASSERT_TRUE(eventually([&] { return !log->is_down(); })) << log->health().problem;
  EXPECT_TRUE(log->get("copied").value());
}

INSTANTIATE_TEST_SUITE_P(all, SqliteLoss,
                         testing::Values(Loss{"all_deleted", delete_all, "deleted"},
                                         Loss{"deleted", delete_database, "deleted"},
                                         Loss{"log_deleted", delete_log, "-wal was deleted", true},
                                         Loss{"emptied", truncate_whole, "truncated"},
                                         Loss{"cut", truncate_half, "truncated"},
                                         Loss{"replaced_by_nothing", replace_by_empty, "replaced"},
                                         Loss{"replaced", replace_by_copy, "replaced", true}),
                         [](const auto& it) { return std::string(it.param.name); });

TEST(SqliteFiles, sessions_move_to_the_new_file_as_well) {
  const ScratchFolder folder;
  const auto log = open_at(folder);
  Sessions sessions(folder.url(), "node", {});
  const auto ask = [&] {
    std::atomic<int> state = 0;
    sessions.submit("s", {.run = [](Sessions::Tables& tables) -> Attempt<void> {
                            const auto got = tables.sessions.get("none");
                            if (!got) return tl::unexpected(got.error());
                            return {};
                          },
                          .done = [&](const Attempt<void>& done) { state = done ? 1 : 2; }});
    EXPECT_TRUE(eventually([&] { return state != 0; }));
    return state == 1;
  };
  ASSERT_TRUE(ask());
  delete_all(folder);
  ASSERT_TRUE(eventually([&] { return fs::exists(folder.database()); }));
  EXPECT_TRUE(eventually(ask));
}

// In a process of its own: the limit holds for all files.
TEST(SqliteFiles, a_file_that_may_not_grow_is_a_full_disk) {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto log = make_request_log(folder.url(), impatient_with(true));
    const rlimit limit{.rlim_cur = 400'000, .rlim_max = 400'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 20'000 && !(*log)->is_down(); ++i) {
      record(**log, std::to_string(i));
      static_cast<void>((*log)->flush(milliseconds(50)));
    }
    const bool told = (*log)->health().problem.find("full") != std::string::npos;
    ::_exit(told ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace callgate::store::sqlite_files_test
