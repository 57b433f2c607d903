// Calls that codex makes of the client's tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dial/child_host.h"
#include "net/net_testing.h"

namespace callgate::server::codex_call_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTurn = R"(
read l; echo '{"id":0,"result":{}}'; read l
read l; echo '{"id":1,"result":{"thread":{"id":"t"}}}'
read l; echo '{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}'
echo '{"id":2,"result":{"turn":{"id":"u"}}}'
)";

UpstreamConfig child(std::string_view rest) {
  UpstreamConfig config;
  config.name = "u";
  config.wire = "codex_app_server";
  config.restart_backoff = Milliseconds(1);
  config.start_timeout = Milliseconds(5'000);
  config.command = {"/bin/sh", "-c", std::string(kTurn) + std::string(rest)};
  return config;
}

ChildPrompt prompt(std::string_view results) {
  ChildPrompt made;
  made.body = R"({"thread":{"model":"m"},"items":[],"turn":{"input":[]},"results":)" +
              std::string(results) + R"(,"first":[],"next":[],"model":"m"})";
  made.tools.insert("f");
  made.history = 7;
  return made;
}

std::string answer_of(ChildHost& host, ChildPrompt asked) {
  std::string got;
  net::Loop loop;
  const auto run = [&]() -> net::Task<> {
    auto lane = std::make_shared<AnswerLane>(loop, 1 << 20);
    host.begin(lane, std::move(asked));
    const auto taken = co_await lane->accepted(net::Millis(30'000));
    while (taken) {
      const auto piece = co_await lane->read(net::kNever, net::Millis(30'000));
      if (!piece) got += "failed: " + piece.error().message;
      if (!piece || piece->bytes.empty()) break;
      got += piece->bytes;
    }
    lane->leave();
    host.abandon(lane);
  };
  net::run_to_end(loop, run());
  return got;
}

TEST(CodexCalls, reach_the_client_and_stay_open) {
  ChildHost host(child(R"(
echo '{"method":"item/tool/call","id":5,"params":{"threadId":"t","turnId":"u","callId":"c1","tool":"f","arguments":{}}}'
echo '{"method":"item/fileChange/requestApproval","id":6,"params":{"threadId":"t"}}'
read a
case "$a" in *'"id":6'*'"decision":"decline"'*) ;; *) exit 3;; esac
echo '{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}'
cat > /dev/null)"),
                 {});
  const std::string got = answer_of(host, prompt("[]"));
  EXPECT_THAT(got, HasSubstr(R"("callId":"c1")"));
  EXPECT_THAT(got, testing::EndsWith("\"status\":\"completed\"}}}\n"));
}

// The client's next request brings the result, and codex goes on with the same turn.
TEST(CodexCalls, get_the_results_of_the_next_request) {
  ChildHost host(child(R"(
echo '{"method":"item/tool/call","id":5,"params":{"threadId":"t","turnId":"u","callId":"c1","tool":"f","arguments":{}}}'
echo '{"method":"rawResponse/completed","params":{"threadId":"t","turnId":"u"}}'
read a
case "$a" in *'"id":5'*'"result":{"n":42}'*) ;; *) exit 3;; esac
echo '{"method":"item/x","params":{"threadId":"t","turnId":"u","said":"thanks"}}'
echo '{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}'
cat > /dev/null)"),
                 {});
  const std::string first = answer_of(host, prompt("[]"));
  EXPECT_THAT(first, HasSubstr(R"("callId":"c1")"));
  EXPECT_THAT(first, testing::EndsWith("\"turnId\":\"u\"}}\n"));
  ChildPrompt second = prompt(R"([{"callId":"c1","result":{"n":42}}])");
  second.follows = ChildPrompt::Follows::calls;
  second.before = 7;
  second.called = {"c1"};
  const std::string got = answer_of(host, std::move(second));
  EXPECT_THAT(got, HasSubstr("thanks"));
  EXPECT_THAT(got, testing::EndsWith("\"status\":\"completed\"}}}\n"));
}

}  // namespace
}  // namespace callgate::server::codex_call_test
