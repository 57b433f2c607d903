#include "store/run.h"

#include <gtest/gtest.h>

#include "store/migration.h"
#include "store/scratch_testing.h"

namespace callgate::store {
namespace {

constexpr std::chrono::milliseconds kBusy{1000};

class Run : public testing::Test {
 protected:
  Run() { EXPECT_TRUE(migrate(connection_, migrations())); }

  RunLock new_lock() { return RunLock::open(folder_.database()).value(); }
  void insert_running(std::int64_t run, const std::string& id) {
    EXPECT_TRUE(
        connection_.run("INSERT INTO request (id, run, state, received_at, stream)"
                        " VALUES ('" +
                        id + "', " + std::to_string(run) + ", 'running', 1, 0)"));
  }
  std::int64_t interrupted() {
    return connection_.integer("SELECT count(*) FROM request WHERE state = 'interrupted'").value();
  }

  ScratchFolder folder_;
  Connection connection_ = Connection::open(folder_.database(), kBusy).value();
};

TEST_F(Run, marks_what_a_dead_run_left) {
  {
    RunLock lock = new_lock();
    insert_running(begin_run(connection_, lock, 0).value(), "a");
  }
  RunLock lock = new_lock();
  const std::int64_t run = begin_run(connection_, lock, 0).value();
  EXPECT_EQ(interrupted(), 1);
  EXPECT_EQ(connection_.integer("SELECT count(*) FROM run WHERE ended_at IS NULL"), 1);
  EXPECT_EQ(run, 2);
}

TEST_F(Run, leaves_a_live_run_alone) {
  RunLock first = new_lock();
  insert_running(begin_run(connection_, first, 0).value(), "a");
  RunLock second = new_lock();
  ASSERT_TRUE(begin_run(connection_, second, 0));
  EXPECT_EQ(interrupted(), 0);
  EXPECT_TRUE(first.has_company());
}

TEST_F(Run, goes_on_with_the_run_it_had) {
  RunLock lock = new_lock();
  const std::int64_t run = begin_run(connection_, lock, 0).value();
  EXPECT_EQ(begin_run(connection_, lock, run), run);
  ASSERT_TRUE(end_run(connection_, run));
  EXPECT_EQ(begin_run(connection_, lock, run), run + 1);
}

TEST_F(Run, interrupts_its_own_requests_when_it_ends) {
  RunLock lock = new_lock();
  const std::int64_t run = begin_run(connection_, lock, 0).value();
  insert_running(run, "a");
  ASSERT_TRUE(end_run(connection_, run));
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
}  // namespace callgate::store
