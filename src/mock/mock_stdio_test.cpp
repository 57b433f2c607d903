// The scripted model as a child program: lines in, lines out, over pipes in the place of standard input and output.
#include "mock/mock_stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

namespace callgate::server::mock_stdio_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class MockStdioTest : public testing::Test {
 protected:
  ~MockStdioTest() override {
    close_input();
    if (program_.joinable()) program_.join();
    if (from_ >= 0) ::close(from_);
    if (!script_.empty()) std::remove(script_.c_str());
  }

  // The program takes its own copies of both before it reads or writes; then they are given back.
  void start(const std::string& wire, std::string_view script) {
    script_ = testing::TempDir() + "mock_stdio_" + std::to_string(::getpid()) + ".script";
    std::ofstream(script_) << script;
    int in[2];
    int out[2];
    ASSERT_EQ(::pipe2(in, O_CLOEXEC) + ::pipe2(out, O_CLOEXEC), 0);
    std::fflush(stdout);
    const int own_in = ::dup(0);
    const int own_out = ::dup(1);
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    program_ = std::thread([this, wire] {
      const auto ended = run_mock_stdio({.wire = wire, .script = script_, .record = {}});
      fault_ = ended ? "" : ended.error().message;
    });
    tell(wire == "codex_proto" ? R"({"id":"0","op":{"type":"nothing"}})"
                               : R"({"method":"initialize","id":0,"params":{}})");
    const std::string first = until(wire == "codex_proto" ? "session_configured" : "userAgent");
    ::dup2(own_in, 0);
    ::dup2(own_out, 1);
    ::close(own_in);
    ::close(own_out);
    EXPECT_NE(first, "");
  }
  void tell(const std::string& line) {
    const std::string bytes = line + "\n";
    EXPECT_EQ(::write(to_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  // Reads on until a line has these words; all that came.
  std::string until(std::string_view words) {
    std::string all;
    for (;;) {
      const std::size_t end = pending_.find('\n');
      if (end != std::string::npos) {
        const std::string line = pending_.substr(0, end + 1);
        pending_.erase(0, end + 1);
        all += line;
        if (line.find(words) != std::string::npos) return all;
        continue;
      }
      pollfd ready{.fd = from_, .events = POLLIN, .revents = 0};
      char bytes[4096];
      const ssize_t count = ::poll(&ready, 1, 30'000) == 1 ? ::read(from_, bytes, sizeof bytes) : 0;
      if (count <= 0) {
        ADD_FAILURE() << "no line with " << words << " in " << all;
        return all;
      }
      pending_.append(bytes, static_cast<std::size_t>(count));
    }
  }
  void close_input() {
    if (to_ >= 0) ::close(to_);
    to_ = -1;
  }
  // What the program says of itself when it has ended.
  std::string end() {
    close_input();
    program_.join();
    return fault_;
  }

  std::string script_;
  std::thread program_;
  int to_ = -1;
  int from_ = -1;
  std::string pending_;
  std::string fault_;
};

std::string user_input(std::string_view id, std::string_view words) {
  return R"({"id":")" + std::string(id) +
         R"(","op":{"type":"user_input","items":[{"type":"text","text":")" + std::string(words) +
         R"("}]}})";
}

constexpr std::string_view kTwoTurns =
    "rule one\n  when turn 0\n  text \"First\"\nrule two\n  when turn 1\n  text \"Second\"\n";

TEST_F(MockStdioTest, proto_remembers_what_was_said) {
  start("codex_proto", kTwoTurns);
  tell(user_input("1", "hi"));
  const std::string first = until("task_complete");
  EXPECT_THAT(first, HasSubstr("First"));
  EXPECT_THAT(first, HasSubstr(R"({"id":"1","msg":{)"));
  tell(user_input("2", "more"));
  EXPECT_THAT(until("task_complete"), HasSubstr("Second"));
  tell(R"({"id":"3","op":{"type":"shutdown"}})");
  EXPECT_THAT(until("shutdown_complete"), HasSubstr(R"({"id":"3","msg":{)"));
  EXPECT_EQ(end(), "");
}

TEST_F(MockStdioTest, proto_stops_when_it_is_interrupted) {
  start("codex_proto", "text \"Half\"\nhang\n");
  tell(user_input("1", "hi"));
  until("Half");
  tell(R"({"id":"2","op":{"type":"interrupt"}})");
  EXPECT_THAT(until("turn_aborted"),
              HasSubstr(R"({"id":"1","msg":{"type":"turn_aborted","reason":"interrupted"}})"));
  EXPECT_EQ(end(), "");
}

TEST_F(MockStdioTest, proto_crashes_as_its_script_says) {
  start("codex_proto", "text \"Half\"\nabort\n");
  tell(user_input("1", "hi"));
  until("Half");
  program_.join();
  EXPECT_EQ(fault_, "the script ended the program");
}

class MockAppServerTest : public MockStdioTest {
 protected:
  void start_thread() {
    tell(R"({"method":"thread/start","id":1,"params":{"model":"m"}})");
    EXPECT_THAT(until("thread_1"), HasSubstr(R"({"id":1,"result":{"thread":{"id":"thread_1"}}})"));
  }
  void start_turn(std::string_view words) {
    tell(
        R"({"method":"turn/start","id":2,"params":{"threadId":"thread_1","input":[{"type":"text","text":")" +
        std::string(words) + R"("}]}})");
  }
};

TEST_F(MockAppServerTest, plays_turns_of_a_thread) {
  start("codex_app_server", kTwoTurns);
  tell(R"({"method":"turn/start","id":9,"params":{"threadId":"thread_7"}})");
  EXPECT_THAT(until("no such thread"), HasSubstr(R"({"id":9,"error":{"code":-32600,)"));
  start_thread();
  start_turn("hi");
  const std::string first = until("turn/completed");
  EXPECT_THAT(first, HasSubstr(R"("method":"turn/started")"));
  EXPECT_THAT(first, HasSubstr(R"("threadId":"thread_1","turnId":"turn_1")"));
  EXPECT_THAT(first, HasSubstr("First"));
  EXPECT_THAT(first, HasSubstr(R"("turn":{"id":"turn_1")"));
  start_turn("more");
  const std::string second = until("turn/completed");
  EXPECT_THAT(second, HasSubstr("Second"));
  EXPECT_THAT(second, HasSubstr("turn_2"));
  EXPECT_EQ(end(), "");
}

TEST_F(MockAppServerTest, goes_on_with_the_result_of_a_call) {
  start("codex_app_server",
        "rule end\n  when last tool\n  text \"Thanks\"\nrule first\n  call find {\"q\":1}\n");
  start_thread();
  start_turn("hi");
  const std::string asked = until("item/tool/call");
  EXPECT_THAT(asked, HasSubstr(R"({"method":"item/tool/call","id":0,"params":{)"));
  EXPECT_THAT(asked, Not(HasSubstr("Thanks")));
  tell(
      R"({"id":0,"result":{"contentItems":[{"type":"inputText","text":"found"}],"success":true}})");
  EXPECT_THAT(until("turn/completed"), HasSubstr("Thanks"));
  EXPECT_EQ(end(), "");
}

TEST_F(MockAppServerTest, stops_when_it_is_interrupted) {
  start("codex_app_server", "text \"Half\"\nhang\n");
  start_thread();
  start_turn("hi");
  until("Half");
  tell(R"({"method":"turn/interrupt","id":3,"params":{"threadId":"thread_1"}})");
  EXPECT_THAT(until("turn/completed"), HasSubstr(R"("status":"interrupted")"));
  EXPECT_EQ(end(), "");
}

}  // namespace
}  // namespace callgate::server::mock_stdio_test
