// What was acknowledged is there after kill -9, and what was open is marked.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <random>

#include "store/request_log.h"
#include "store/scratch_testing.h"

namespace callgate::store {
namespace {

// Writes requests until it is killed; every seventh never completes. Says on `out` what is
// acknowledged.
[[noreturn]] void write_until_killed(const std::string& url, const std::string& prefix, int out) {
  RequestLogOptions options;
  options.linger = std::chrono::milliseconds(1);
  options.batch_rows = 16;
  options.on_recorded = [&](std::string_view id, RequestState state) {
    const std::string line = std::string(id) + " " + std::string(to_string(state)) + "\n";
    if (write(out, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(2);
  };
  auto log = make_request_log(url, std::move(options));
  if (!log) _exit(1);
  for (int i = 0;; ++i) {
    const std::string id = prefix + "-" + std::to_string(i);
    (*log)->begin(sample_record(id));
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
    if (i % 7 != 0) (*log)->complete(sample_outcome(id));
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

TEST(RequestLogCrash, every_acknowledged_row_survives_kill_9) {
  const ScratchFolder folder;
  std::mt19937 random(20250117);
  int interrupted = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string prefix = "r" + std::to_string(round);
    const int lines = static_cast<int>(random() % 150) + 1;
    const auto acknowledged = run_and_kill(folder.url(), prefix, lines);

    const auto log = make_request_log(folder.url()).value();
    for (const auto& [id, state] : acknowledged) {
      const auto row = log->get(id).value();
      ASSERT_TRUE(row) << id;
      if (state == "completed") {
        EXPECT_EQ(row->outcome.state, RequestState::completed) << id;
        EXPECT_EQ(row->outcome.total_ms, 250) << id;
      }
    }
    const std::vector<RequestRow> rows = log->recent(1'000'000).value();
    for (const RequestRow& row : rows) {
      EXPECT_NE(row.outcome.state, RequestState::running) << row.record.id;
      interrupted += row.outcome.state == RequestState::interrupted ? 1 : 0;
    }
  }
  EXPECT_GT(interrupted, 20);
}

}  // namespace
}  // namespace callgate::store
