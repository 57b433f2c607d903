#include "store/sqlite_run.h"

#include <gtest/gtest.h>

#include "store/migration.h"
#include "store/scratch_testing.h"

namespace callgate::store::sqlite_run_test {
namespace {

class Run : public testing::Test {
 protected:
  RunLock new_lock() { return RunLock::open(folder_.database()).value(); }
  void insert_running(std::int64_t run, const std::string& id) {
    EXPECT_TRUE(
        database_->run("INSERT INTO request (id, run, state, received_at, stream)"
                       " VALUES ('" +
                       id + "', " + std::to_string(run) + ", 'running', 1, 0)"));
  }
  std::int64_t interrupted() {
    return database_->integer("SELECT count(*) FROM request WHERE state = 'interrupted'").value();
  }

  ScratchFolder folder_;
  std::unique_ptr<Database> database_ = open_migrated(folder_.url(), {}).value();
};

TEST_F(Run, marks_what_a_dead_run_left) {
  {
    RunLock lock = new_lock();
    insert_running(begin_run(*database_, lock, 0).value(), "a");
  }
  RunLock lock = new_lock();
  const std::int64_t run = begin_run(*database_, lock, 0).value();
  EXPECT_EQ(interrupted(), 1);
  EXPECT_EQ(database_->integer("SELECT count(*) FROM run WHERE ended_at IS NULL"), 1);
  EXPECT_EQ(run, 2);
}

TEST_F(Run, leaves_a_live_run_alone) {
  RunLock first = new_lock();
  insert_running(begin_run(*database_, first, 0).value(), "a");
  RunLock second = new_lock();
  ASSERT_TRUE(begin_run(*database_, second, 0));
  EXPECT_EQ(interrupted(), 0);
  EXPECT_TRUE(first.has_company());
}

TEST_F(Run, goes_on_with_the_run_it_had) {
  RunLock lock = new_lock();
  const std::int64_t run = begin_run(*database_, lock, 0).value();
  EXPECT_EQ(begin_run(*database_, lock, run), run);
  ASSERT_TRUE(end_run(*database_, run));
  EXPECT_EQ(begin_run(*database_, lock, run), run + 1);
}

TEST_F(Run, interrupts_its_own_requests_when_it_ends) {
  RunLock lock = new_lock();
  const std::int64_t run = begin_run(*database_, lock, 0).value();
  insert_running(run, "a");
  ASSERT_TRUE(end_run(*database_, run));
  EXPECT_EQ(interrupted(), 1);
}

TEST_F(Run, has_no_company_when_it_is_alone) {
  RunLock lock = new_lock();
  EXPECT_TRUE(lock.take(7));
  EXPECT_FALSE(lock.has_company());
  EXPECT_FALSE(new_lock().take(7));
  EXPECT_TRUE(new_lock().is_held_by_other(7));
  EXPECT_TRUE(lock.take(8));
  EXPECT_FALSE(new_lock().is_held_by_other(7));
}

}  // namespace
}  // namespace callgate::store::sqlite_run_test
