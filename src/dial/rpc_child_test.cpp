#include "dial/rpc_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "net/net_testing.h"

namespace callgate::server::rpc_child_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(RestartPause, begins_with_the_backoff_and_doubles_up_to_ten_seconds) {
  const net::Millis backoff(250);
  EXPECT_EQ(restart_pause(backoff, 0), net::Millis(0));
  EXPECT_EQ(restart_pause(backoff, 1), net::Millis(250));
  EXPECT_EQ(restart_pause(backoff, 2), net::Millis(500));
  EXPECT_EQ(restart_pause(backoff, 5), net::Millis(4'000));
  EXPECT_EQ(restart_pause(backoff, 6), net::Millis(8'000));
  EXPECT_EQ(restart_pause(backoff, 7), net::Millis(10'000));
  EXPECT_EQ(restart_pause(backoff, 1'000), net::Millis(10'000));
  EXPECT_EQ(restart_pause(net::Millis(1), 1'000), net::Millis(64));
}

class RpcChildTest : public testing::Test {
 protected:
  void start(const std::string& script) {
    RpcChildOptions options;
    options.process.command = {"/bin/sh", "-c", script};
    options.start_timeout = net::Millis(10'000);
    options.backoff = net::Millis(1);
    child_.emplace(
        loop_, options,
        RpcChild::Events{.line = [this](const upstream::CodexLine& line,
                                        std::string_view) { methods_.emplace_back(line.method); },
                         .end = [this](const Error& why) { ends_.push_back(why.message); }},
        ChildHealth{.up =
                        [this](bool up) {
                          if (std::exchange(throws_, false)) throw std::runtime_error("no gauge");
                          states_.push_back(up ? "up" : "down");
                        },
                    .restarted = [this] { states_.emplace_back("again"); },
                    .log = [this](std::string_view line) { log_.append(line) += '\n'; }});
  }
  // What ready() says: empty when all is well.
  std::string ready() {
    std::string said;
    net::run_to_end(loop_, [](RpcChild& child, std::string& to) -> net::Task<> {
      const auto result = co_await child.ready();
      if (!result) to = result.error().message;
    }(*child_, said));
    return said;
  }
  std::string ask(std::string_view method) {
    std::string said;
    net::run_to_end(loop_,
                    [](RpcChild& child, std::string_view what, std::string& to) -> net::Task<> {
                      auto result = co_await child.ask(what, "{\"n\":1}");
                      to = result ? *result : "failed: " + result.error().message;
                    }(*child_, method, said));
    return said;
  }

  net::Loop loop_;
  std::optional<RpcChild> child_;
  std::vector<std::string> methods_;
  std::vector<std::string> ends_;
  std::vector<std::string> states_;
  std::string log_;
  bool throws_ = false;
};

constexpr std::string_view kHello = "read l; echo '{\"id\":0,\"result\":{}}'; read l; ";

TEST_F(RpcChildTest, shakes_hands_and_answers) {
  start(
      "read l; echo '{\"id\":0,\"result\":{}}'; read m; read q; "
      "echo '{\"method\":\"hello\",\"params\":{}}'; echo '{\"id\":7,\"result\":\"stray\"}'; "
      "echo \"{\\\"id\\\":1,\\\"result\\\":[$l,$m,$q]}\"; cat > /dev/null");
  EXPECT_EQ(ready(), "");
  EXPECT_EQ(ready(), "") << "it runs";
  EXPECT_THAT(states_, ElementsAre("up"));
  const std::string got = ask("turn/start");
  EXPECT_THAT(
      got,
      HasSubstr(
          R"("method":"initialize","id":0,"params":{"clientInfo":{"name":"callgate","title":"Callgate","version":)"));
  EXPECT_THAT(got, HasSubstr(R"("capabilities":{"experimentalApi":true}})"));
  EXPECT_THAT(got, HasSubstr(R"({"method":"initialized"})"));
  EXPECT_THAT(got, HasSubstr(R"({"method":"turn/start","id":1,"params":{"n":1}})"));
  EXPECT_THAT(methods_, ElementsAre("hello"));
  EXPECT_EQ(log_, "");
}

TEST_F(RpcChildTest, says_why_a_child_did_not_start) {
  start("read l; echo '{\"id\":0,\"error\":{\"message\":\"too old\"}}'; cat > /dev/null");
  EXPECT_EQ(ready(), "the codex child did not start: codex refused: too old");
  EXPECT_EQ(log_, "the codex child did not start: codex refused: too old\n");
  EXPECT_THAT(states_, ElementsAre());
  EXPECT_THAT(ends_, ElementsAre()) << "nobody used it";
}

TEST_F(RpcChildTest, does_not_keep_anybody_waiting_for_a_start_that_throws) {
  std::vector<std::string> faults;
  loop_.set_fault_log([&](std::string_view what) { faults.emplace_back(what); });
  start(std::string(kHello) + "cat > /dev/null");
  throws_ = true;
  EXPECT_EQ(ready(), "starting the codex child broke off inside the gateway");
  EXPECT_THAT(faults, ElementsAre("no gauge"));
  EXPECT_EQ(ready(), "") << "it is started again";
  EXPECT_THAT(states_, ElementsAre("again", "up"));
}

TEST_F(RpcChildTest, says_that_there_is_no_such_program) {
  RpcChildOptions options;
  options.process.command = {"/nonexistent/codex"};
  child_.emplace(loop_, options,
                 RpcChild::Events{.line = [](const upstream::CodexLine&, std::string_view) {},
                                  .end = [](const Error&) {}},
                 ChildHealth{.up = {}, .restarted = {}, .log = [this](std::string_view line) {
                               log_.append(line) += '\n';
                             }});
  const std::string said = ready();
  EXPECT_THAT(said, HasSubstr("/nonexistent/codex"));
  EXPECT_EQ(log_, said + "\n");
}

TEST_F(RpcChildTest, tells_everybody_of_its_end_and_starts_again) {
  start(std::string(kHello) + "read q; echo dying >&2; exit 7");
  EXPECT_EQ(ready(), "");
  EXPECT_THAT(ask("turn/start"), HasSubstr("failed: the codex child ended: exit status 7"));
  EXPECT_THAT(ends_, ElementsAre(HasSubstr("exit status 7")));
  EXPECT_THAT(log_, HasSubstr("exit status 7; it said: dying"));
  EXPECT_THAT(states_, ElementsAre("up", "down"));
  EXPECT_THAT(ask("turn/start"), HasSubstr("the codex child has ended"));
  EXPECT_EQ(ready(), "");
  EXPECT_THAT(states_, ElementsAre("up", "down", "again", "up"));
}

TEST_F(RpcChildTest, answers_the_requests_of_the_child) {
  start(std::string(kHello) +
        "read -r a; read -r b; echo \"{\\\"id\\\":1,\\\"result\\\":[$a,$b]}\"; cat > /dev/null");
  EXPECT_EQ(ready(), "");
  child_->reply("\"x\"", "{\"ok\":true}");
  child_->refuse("5", "not so");
  EXPECT_EQ(
      ask("ignored"),
      R"([{"id":"x","result":{"ok":true}},{"id":5,"error":{"code":-32601,"message":"not so"}}])");
}

}  // namespace
}  // namespace callgate::server::rpc_child_test
