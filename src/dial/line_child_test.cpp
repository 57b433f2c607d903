#include "dial/line_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "net/net_testing.h"

namespace callgate::server::line_child_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LineChildTest : public testing::Test {
 protected:
  std::shared_ptr<LineChild> start(const std::string& script) {
    net::ProcessOptions options;
    options.command = {"/bin/sh", "-c", script};
    auto child = LineChild::start(loop_, options,
                                  {.line =
                                       [this](std::string_view line) {
                                         if (line == "throw") throw std::runtime_error("thrown");
                                         lines_.emplace_back(line);
                                         news_.notify();
                                       },
                                   .end =
                                       [this](const Error& why, std::string_view words) {
                                         ends_.push_back(why.message + "|" + std::string(words));
                                         news_.notify();
                                       }});
    EXPECT_TRUE(child) << child.error().message;
    EXPECT_EQ(lines_.size() + ends_.size(), 0u) << "nothing is reported before it has started";
    return *child;
  }
  // Until so many lines and ends came.
  void wait_for(std::size_t lines, std::size_t ends) {
    const auto run = [&]() -> net::Task<> {
      while (lines_.size() < lines || ends_.size() < ends) {
        const bool came = co_await news_.wait(net::Millis(30'000));
        if (!came) co_return;
      }
    };
    net::run_to_end(loop_, run());
    EXPECT_EQ(lines_.size(), lines);
    EXPECT_EQ(ends_.size(), ends);
  }

  net::Loop loop_;
  net::Signal news_{loop_};
  std::vector<std::string> lines_;
  std::vector<std::string> ends_;
};

TEST_F(LineChildTest, passes_lines_both_ways_and_says_how_it_ended) {
  const auto child = start("read a; read b; echo \"$b\"; echo \"$a\"; echo oops >&2; exit 3");
  EXPECT_TRUE(child->tell("one"));
  EXPECT_TRUE(child->tell("two"));
  wait_for(2, 1);
  EXPECT_THAT(lines_, ElementsAre("two", "one"));
  EXPECT_THAT(ends_, ElementsAre("the codex child ended: exit status 3|oops\n"));
  EXPECT_FALSE(child->tell("three")) << "it takes none any more";
}

TEST_F(LineChildTest, ends_when_whoever_hears_it_throws) {
  std::string fault;
  loop_.set_fault_log([&](std::string_view what) { fault = what; });
  const auto child = start("echo one; echo throw; echo two; cat > /dev/null");
  wait_for(1, 1);
  EXPECT_THAT(lines_, ElementsAre("one"));
  EXPECT_THAT(ends_, ElementsAre("reading from the codex child broke off inside the gateway|"));
  EXPECT_EQ(fault, "thrown");
  EXPECT_FALSE(child->tell("three"));
}

TEST_F(LineChildTest, says_that_it_was_killed) {
  const auto child = start("echo up; cat > /dev/null");
  wait_for(1, 0);
  child->kill();
  wait_for(1, 1);
  EXPECT_THAT(ends_[0], HasSubstr("the codex child ended: "));
}

TEST_F(LineChildTest, says_nothing_once_it_was_dropped) {
  const auto dropped = start("echo up; cat > /dev/null");
  wait_for(1, 0);
  dropped->drop();
  // Its tasks hold it until it is gone.
  const auto run = [&]() -> net::Task<> {
    for (int i = 0; i < 30'000 && dropped.use_count() > 1; ++i)
      co_await loop_.sleep(net::Millis(1));
  };
  net::run_to_end(loop_, run());
  EXPECT_EQ(dropped.use_count(), 1);
  EXPECT_FALSE(dropped->tell("x"));
  EXPECT_EQ(ends_.size(), 0u);
}

}  // namespace
}  // namespace callgate::server::line_child_test
