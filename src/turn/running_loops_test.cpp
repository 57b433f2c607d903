#include "turn/running_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/net_testing.h"

namespace callgate::server::running_loops_test {
namespace {

using testing::ElementsAre;
using Answer = RunningLoops::Answer;
using Kind = LoopCommand::Kind;

class RunningLoopsTest : public testing::Test {
 protected:
  static LoopSight sight(std::string id, std::string key) {
    return {.id = std::move(id),
            .request = "req_1",
            .key = std::move(key),
            .model = "m",
            .started_at = 5,
            .tools = {},
            .approvals = {}};
  }
  static LoopCommand command(Kind kind, loop::RunId run = 0) {
    return {.kind = kind, .text = "words", .run = run};
  }
  // Lets the loop do what was posted to it.
  void settle() {
    net::run_to_end(loop_,
                    [](net::Loop& on) -> net::Task<> { co_await on.sleep(net::Millis(0)); }(loop_));
  }

  net::Loop loop_;
  RunningLoops loops_;
  std::vector<std::string> heard_;
};

TEST_F(RunningLoopsTest, lists_what_runs_as_it_was_shown_last) {
  RunningLoops::Entry entry(loops_, loop_, sight("loop_1", "dev"), [](const LoopCommand&) {});
  entry.show(2, 3, {"find"}, {{.run = 4, .call_id = "c", .name = "rm", .arguments = "{}"}});
  {
    const RunningLoops::Entry other(loops_, loop_, sight("loop_2", ""), [](const LoopCommand&) {});
    EXPECT_EQ(loops_.list().size(), 2u);
  }
  const std::vector<LoopSight> all = loops_.list();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, "loop_1");
  EXPECT_EQ(all[0].request, "req_1");
  EXPECT_EQ(all[0].key, "dev");
  EXPECT_EQ(all[0].model, "m");
  EXPECT_EQ(all[0].started_at, 5);
  EXPECT_EQ(all[0].rounds, 2u);
  EXPECT_EQ(all[0].calls, 3u);
  EXPECT_THAT(all[0].tools, ElementsAre("find"));
  ASSERT_EQ(all[0].approvals.size(), 1u);
  EXPECT_EQ(all[0].approvals[0].run, 4u);
}

TEST_F(RunningLoopsTest, steers_loops_of_the_key_that_asks) {
  std::optional<RunningLoops::Entry> entry;
  entry.emplace(loops_, loop_, sight("loop_1", "dev"), [this](const LoopCommand& said) {
    heard_.push_back(std::to_string(static_cast<int>(said.kind)) + said.text);
  });
  const std::string dev = "dev";
  const std::string other = "other";
  EXPECT_EQ(loops_.steer("loop_2", nullptr, command(Kind::inject)), Answer::no_loop);
  EXPECT_EQ(loops_.steer("loop_1", &other, command(Kind::inject)), Answer::no_loop);
  EXPECT_EQ(loops_.steer("loop_1", &dev, command(Kind::inject)), Answer::taken);
  EXPECT_EQ(loops_.steer("loop_1", nullptr, command(Kind::cancel)), Answer::taken);
  EXPECT_THAT(heard_, ElementsAre()) << "on its own event loop";
  settle();
  EXPECT_THAT(heard_, ElementsAre("1words", "0words"));
  EXPECT_EQ(loops_.steer("loop_1", nullptr, command(Kind::cancel)), Answer::taken);
  entry.reset();
  settle();
  EXPECT_EQ(heard_.size(), 2u) << "it is gone";
  EXPECT_EQ(loops_.steer("loop_1", nullptr, command(Kind::cancel)), Answer::no_loop);
}

TEST_F(RunningLoopsTest, only_runs_that_wait_can_be_approved_or_denied) {
  RunningLoops::Entry entry(loops_, loop_, sight("loop_1", ""),
                            [this](const LoopCommand& said) { heard_.push_back(said.text); });
  for (const Kind kind : {Kind::approve, Kind::deny}) {
    EXPECT_EQ(loops_.steer("loop_1", nullptr, command(kind, 4)), Answer::no_run);
  }
  entry.show(1, 1, {}, {{.run = 4, .call_id = "c", .name = "rm", .arguments = "{}"}});
  for (const Kind kind : {Kind::approve, Kind::deny}) {
    EXPECT_EQ(loops_.steer("loop_1", nullptr, command(kind, 3)), Answer::no_run);
    EXPECT_EQ(loops_.steer("loop_1", nullptr, command(kind, 4)), Answer::taken);
  }
  settle();
  EXPECT_EQ(heard_.size(), 2u);
}

}  // namespace
}  // namespace callgate::server::running_loops_test
