#include "dial/child_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "net/net_testing.h"

namespace callgate::server::child_host_test {
namespace {

using testing::HasSubstr;

Message message(Role role, std::string content) {
  return {.role = role, .content = {std::move(content)}};
}

UpstreamConfig shell_child(std::string wire, std::string script) {
  UpstreamConfig config;
  config.name = "u";
  config.wire = std::move(wire);
  config.command = {"/bin/sh", "-c", std::move(script)};
  config.restart_backoff = Milliseconds(1);
  config.start_timeout = Milliseconds(5000);
  return config;
}

// What the lane gives, and how it ends.
std::string answer_of(ChildHost& host, ChildPrompt prompt) {
  std::string got;
  net::Loop loop;
  net::run_to_end(
      loop, [](net::Loop& on, ChildHost& from, ChildPrompt asked, std::string& out) -> net::Task<> {
        auto lane = std::make_shared<AnswerLane>(on, 1 << 20);
        from.begin(lane, std::move(asked));
        const auto taken = co_await lane->accepted(net::Millis(10'000));
        if (!taken) {
          out = "refused: " + taken.error().message;
        }
        while (taken) {
          const auto piece = co_await lane->read(net::kNever, net::Millis(10'000));
          if (!piece) out += "failed: " + piece.error().message;
          if (!piece || piece->bytes.empty()) break;
          out += piece->bytes;
        }
        lane->leave();
        from.abandon(lane);
      }(loop, host, std::move(prompt), got));
  return got;
}

ChildPrompt prompt() {
  return {.body = R"({"thread":{"model":"m"},"items":[],"turn":{"input":[]},"results":[],)"
                  R"("first":[],"next":[],"model":"m"})"};
}

constexpr std::string_view kHello = R"(
read l; echo '{"id":0,"result":{}}'; read l
read l; echo '{"id":1,"result":{"thread":{"id":"t"}}}'
read l; echo '{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}'
echo '{"method":"item/tool/call","id":0,"params":{"threadId":"other"}}'
echo '{"method":"item/fileChange/requestApproval","id":1,"params":{"threadId":"t"}}'
echo '{"id":2,"result":{"turn":{"id":"u"}}}'
read a; read b
echo "{\"method\":\"item/x\",\"params\":{\"threadId\":\"t\",\"turnId\":\"old\",\"n\":0}}"
echo "{\"method\":\"item/x\",\"params\":{\"threadId\":\"t\",\"turnId\":\"u\",\"n\":1}}"
)";

TEST(ChildHost, passes_on_the_lines_of_the_turn_and_grants_nothing) {
  std::atomic<int> ups = 0;
  const ChildHealth health{.up = [&](bool up) { ups += up ? 1 : 0; }, .restarted = {}, .log = {}};
  const std::string script = std::string(kHello) +
                             R"(case "$a$b" in *error*'"decision":"decline"'*) ;; *) exit 3;; esac
echo '{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}'
cat > /dev/null)";
  ChildHost host(shell_child("codex_app_server", script), health);
  const std::string got = answer_of(host, prompt());
  EXPECT_THAT(got, HasSubstr(R"("ownTools":"hidden")"));
  EXPECT_THAT(got, HasSubstr(R"("n":1)"));
  EXPECT_THAT(got, Not(HasSubstr(R"("n":0)")));
  EXPECT_THAT(got, testing::EndsWith("\"status\":\"completed\"}}}\n"));
  EXPECT_EQ(ups, 1);
}

TEST(ChildHost, says_how_a_child_ended_and_starts_another) {
  std::atomic<int> restarts = 0;
  const ChildHealth health{.up = {}, .restarted = [&] { ++restarts; }, .log = {}};
  ChildHost host(shell_child("codex_app_server", std::string(kHello) + "exit 7"), health);
  EXPECT_THAT(answer_of(host, prompt()), HasSubstr("the codex child ended: exit status 7"));
  EXPECT_THAT(answer_of(host, prompt()), HasSubstr("the codex child ended: exit status 7"));
  EXPECT_EQ(restarts, 1);
}

TEST(ChildHost, leaves_a_child_alone_that_never_starts) {
  UpstreamConfig config = shell_child("codex_app_server", "exit 1");
  config.restart_limit = 2;
  ChildHost host(config, {});
  EXPECT_THAT(answer_of(host, prompt()), HasSubstr("did not start"));
  EXPECT_THAT(answer_of(host, prompt()), HasSubstr("did not start"));
  EXPECT_THAT(answer_of(host, prompt()), HasSubstr("failed 2 times in a row"));
}

TEST(ChildHost, gives_a_silent_child_no_more_than_its_time) {
  UpstreamConfig config = shell_child("codex_app_server", "sleep 600");
  config.start_timeout = Milliseconds(30);
  ChildHost host(config, {});
  EXPECT_THAT(answer_of(host, prompt()), HasSubstr("did not answer initialize in time"));
  config.wire = "codex_proto";
  ChildHost old(config, {});
  EXPECT_THAT(answer_of(old, prompt()), HasSubstr("did not start in time"));
}

TEST(ChildHost, keeps_a_process_of_proto_for_its_conversation) {
  const std::string script = R"(n=0; while read l; do n=$((n+1))
echo "{\"id\":\"$n\",\"msg\":{\"type\":\"agent_message\",\"message\":\"$n\"}}"
echo "{\"id\":\"$n\",\"msg\":{\"type\":\"task_complete\"}}"
done)";
  ChildHost host(shell_child("codex_proto", script), {});
  Request request{.model = "m"};
  request.messages.push_back(message(Role::user, "\"hi\""));
  const std::string body = prompt().body;
  EXPECT_THAT(answer_of(host, make_child_prompt(request, body, host.key())),
              HasSubstr(R"("message":"1")"));
  request.messages.push_back(message(Role::assistant, "\" 1\""));
  request.messages.push_back(message(Role::user, "\"more\""));
  EXPECT_THAT(answer_of(host, make_child_prompt(request, body, host.key())),
              HasSubstr(R"("message":"2")"));
  request.messages[0].content.text = "\"changed\"";
  EXPECT_THAT(answer_of(host, make_child_prompt(request, body, host.key())),
              HasSubstr(R"("message":"1")"));
}

TEST(ChildHosts, keep_a_host_that_a_reload_does_not_change) {
  ChildHosts hosts;
  const auto health = [] { return ChildHealth{}; };
  UpstreamConfig config = shell_child("codex_proto", "cat");
  const auto first = hosts.find_or_start(config, health);
  EXPECT_EQ(hosts.find_or_start(config, health), first);
  UpstreamConfig changed = config;
  changed.env.emplace_back("X", "1");
  EXPECT_NE(hosts.find_or_start(changed, health), first);
  EXPECT_EQ(hosts.find_or_start(config, health), first) << "the change was not put in force";
}

TEST(ChildPrompt, knows_what_a_request_goes_on_with) {
  const HashKey key{1, 2};
  Request request{.model = "m"};
  request.messages.push_back(message(Role::user, "\"hi\""));
  const ChildPrompt first = make_child_prompt(request, "", key);
  EXPECT_EQ(first.follows, ChildPrompt::Follows::nothing);
  request.messages.push_back(message(Role::assistant, "\"Hello  there\""));
  request.messages.push_back(message(Role::user, R"([{"type":"text","text":"more"}])"));
  const ChildPrompt second = make_child_prompt(request, "", key);
  EXPECT_EQ(second.follows, ChildPrompt::Follows::answer);
  EXPECT_EQ(second.before, first.history);
  EXPECT_EQ(second.answer, words_of("Hello\nthere", key));
  request.messages[1].calls.push_back({.id = "c", .name = "f", .arguments = "{}"});
  EXPECT_EQ(make_child_prompt(request, "", key).follows, ChildPrompt::Follows::nothing);
  request.messages[2] = message(Role::tool, "\"5\"");
  EXPECT_EQ(make_child_prompt(request, "", key).follows, ChildPrompt::Follows::calls);
}

TEST(AnswerLane, ends_an_answer_that_nobody_reads) {
  net::Loop loop;
  auto lane = std::make_shared<AnswerLane>(loop, 10);
  EXPECT_TRUE(lane->push("12345"));
  EXPECT_FALSE(lane->push("678901"));
  lane->leave();
  EXPECT_TRUE(lane->left());
  EXPECT_FALSE(lane->push("x"));
}

}  // namespace
}  // namespace callgate::server::child_host_test
