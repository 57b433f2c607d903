// Loops, sessions, conversations and the request log, as an operator sees them over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/query_pool.h"
#include "gateway/gateway_client_testing.h"
#include "store/scratch_testing.h"

namespace callgate::server::admin_routes_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kKeys =
    "[[key]]\nname = \"ann\"\nsecret = \"ann-secret\"\n"
    "[[key]]\nname = \"bob\"\nsecret = \"bob-secret\"\n"
    "[[key]]\nname = \"root\"\nsecret = \"root-secret\"\nadmin = true\n";
const HeaderPairs kAnn{{"authorization", "Bearer ann-secret"}};
const HeaderPairs kRoot{{"authorization", "Bearer root-secret"}};

class AdminRoutesTest : public testing::Test {
 protected:
  static LoopSight sight(std::string id, std::string key) {
    return {.id = std::move(id),
            .request = "req_9",
            .key = std::move(key),
            .model = "m",
            .started_at = 7,
            .tools = {},
            .approvals = {}};
  }
  static RunningLoops::Steer deaf() {
    return [](const LoopCommand&) {};
  }

  net::Loop loop_;
};

TEST_F(AdminRoutesTest, lists_running_loops) {
  TestGateway gateway(loop_, "");
  TestAnswer answer = fetch(gateway, "GET", "/v1/loops");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("cache-control"), "no-store");
  EXPECT_EQ(answer.header("content-type"), "application/json");
  EXPECT_EQ(answer.body, R"({"object":"list","data":[]})");
  RunningLoops& loops = gateway.world().loops;
  RunningLoops::Entry first(loops, loop_, sight("loop_1", ""), deaf());
  const RunningLoops::Entry second(loops, loop_, sight("loop_2", ""), deaf());
  first.show(1, 2, {"find", "list"},
             {{.run = 3, .call_id = "c1", .name = "rm", .arguments = "{}"},
              {.run = 4, .call_id = "c2", .name = "mv", .arguments = "{}"}});
  answer = fetch(gateway, "GET", "/v1/loops");
  EXPECT_EQ(answer.body,
            R"({"object":"list","data":[{"id":"loop_1","request":"req_9","model":"m","key":"",)"
            R"("started_at":7,"rounds":1,"calls":2,"running":["find","list"],"approvals":[)"
            R"({"run":3,"call":"c1","tool":"rm","arguments":"{}"},)"
            R"({"run":4,"call":"c2","tool":"mv","arguments":"{}"}]},)"
            R"({"id":"loop_2","request":"req_9","model":"m","key":"","started_at":7,"rounds":0,)"
            R"("calls":0,"running":[],"approvals":[]}]})");
}

TEST_F(AdminRoutesTest, a_key_sees_and_steers_its_own_loops) {
  TestGateway gateway(loop_, std::string(kKeys));
  RunningLoops& loops = gateway.world().loops;
  const RunningLoops::Entry hers(loops, loop_, sight("loop_1", "ann"), deaf());
  const RunningLoops::Entry his(loops, loop_, sight("loop_2", "bob"), deaf());
  const std::string seen = fetch(gateway, "GET", "/v1/loops", kAnn).body;
  EXPECT_THAT(seen, HasSubstr("loop_1"));
  EXPECT_THAT(seen, Not(HasSubstr("loop_2")));
  EXPECT_THAT(fetch(gateway, "GET", "/v1/loops", kRoot).body, HasSubstr("loop_2"));
  EXPECT_EQ(fetch(gateway, "GET", "/v1/loops").status, 401);
  const std::string cancel = R"({"action":"cancel"})";
  EXPECT_EQ(fetch(gateway, "POST", "/v1/loops/loop_1", kAnn, cancel).status, 202);
  EXPECT_EQ(fetch(gateway, "POST", "/v1/loops/loop_2", kAnn, cancel).status, 404);
  EXPECT_EQ(fetch(gateway, "POST", "/v1/loops/loop_2", kRoot, cancel).status, 202);
}

TEST_F(AdminRoutesTest, steers_a_loop) {
  TestGateway gateway(loop_, "");
  std::vector<std::string> heard;
  RunningLoops::Entry entry(gateway.world().loops, loop_, sight("loop_1", ""),
                            [&](const LoopCommand& said) {
                              heard.push_back(std::to_string(static_cast<int>(said.kind)) + "," +
                                              said.text + "," + std::to_string(said.run));
                            });
  entry.show(1, 1, {}, {{.run = 3, .call_id = "c", .name = "rm", .arguments = "{}"}});
  const auto tell = [&](std::string_view body, std::string_view id = "loop_1") {
    return fetch(gateway, "POST", "/v1/loops/" + std::string(id), {}, body);
  };
  const TestAnswer taken = tell(R"({"action":"cancel","other":[1]})");
  EXPECT_EQ(taken.status, 202);
  EXPECT_EQ(taken.body, R"({"status":"accepted"})");
  EXPECT_EQ(tell(R"({"action":"inject","text":"Hurry"})").status, 202);
  EXPECT_EQ(tell(R"({"action":"inject","text":""})").status, 202) << "empty is a text as well";
  EXPECT_EQ(tell(R"({"action":"system_prompt","text":"Be kind"})").status, 202);
  EXPECT_EQ(tell(R"({"action":"approve","run":3})").status, 202);
  EXPECT_EQ(tell(R"({"action":"deny","run":3,"reason":"no"})").status, 202);
  tell("");
  EXPECT_THAT(heard,
              testing::ElementsAre("0,,0", "1,Hurry,0", "1,,0", "2,Be kind,0", "3,,3", "4,no,3"));
}

TEST_F(AdminRoutesTest, says_what_is_wrong_with_a_command) {
  TestGateway gateway(loop_, "");
  const RunningLoops::Entry entry(gateway.world().loops, loop_, sight("loop_1", ""), deaf());
  struct Case {
    std::string path;
    std::string body;
    int status;
    std::string words;
  };
  const Case cases[] = {
      {"loop_1", "nonsense", 400, "the body is not a JSON object"},
      {"loop_1", R"({"action":"jump"})", 400, "action: expected cancel, inject, system_prompt"},
      {"loop_1", R"({})", 400, R"("param":"action")"},
      {"loop_1", R"({"action":"inject"})", 400, "text: missing, expected a string"},
      {"loop_1", R"({"action":"system_prompt"})", 400, R"("param":"text")"},
      {"loop_1", R"({"action":"approve","run":1})", 404, "run_not_found"},
      {"loop_1", R"({"action":"deny","run":1})", 404, "no call of that number waits"},
      {"loop_2", R"({"action":"cancel"})", 404, "loop_not_found"},
  };
  for (const Case& each : cases) {
    const TestAnswer answer = fetch(gateway, "POST", "/v1/loops/" + each.path, {}, each.body);
    EXPECT_EQ(answer.status, each.status) << each.body;
    EXPECT_THAT(answer.body, HasSubstr(each.words));
  }
}

TEST_F(AdminRoutesTest, needs_a_key_of_an_admin_for_the_log) {
  TestGateway gateway(loop_, std::string(kKeys));
  for (const char* path :
       {"/v1/requests", "/v1/requests/x", "/v1/stats", "/v1/sessions", "/v1/sessions/x"}) {
    EXPECT_EQ(fetch(gateway, "GET", path).status, 401) << path;
    const TestAnswer refused = fetch(gateway, "GET", path, kAnn);
    EXPECT_EQ(refused.status, 403) << path;
    EXPECT_THAT(refused.body, HasSubstr(std::string(path) + " needs a key with admin = true"));
    EXPECT_NE(fetch(gateway, "GET", path, kRoot).status, 403) << path;
  }
  EXPECT_NE(fetch(gateway, "GET", "/v1/usage", kAnn).status, 403) << "a key sees its own";
  EXPECT_EQ(fetch(gateway, "GET", "/v1/usage").status, 401);
  TestGateway open(loop_, "listen = \"0.0.0.0:8080\"\nallow_open = true\n");
  EXPECT_EQ(fetch(open, "GET", "/v1/requests").status, 403) << "others can reach it";
}

TEST_F(AdminRoutesTest, answers_questions_to_the_log_where_there_is_one) {
  TestGateway gateway(loop_, "");
  const TestAnswer none = fetch(gateway, "GET", "/v1/requests");
  EXPECT_EQ(none.status, 503);
  EXPECT_THAT(none.body, HasSubstr("this gateway has no request log"));
  const TestAnswer unmarked = fetch(gateway, "POST", "/v1/requests/x");
  EXPECT_EQ(unmarked.status, 503);
  EXPECT_THAT(unmarked.body, HasSubstr("this gateway has no request log"));
  QueryPool pool;
  gateway.world().queries = &pool;
  const TestAnswer some = fetch(gateway, "GET", "/v1/requests?limit=1");
  EXPECT_EQ(some.status, 200);
  EXPECT_EQ(some.header("cache-control"), "no-store");
  EXPECT_EQ(some.header("content-type"), "application/json");
  EXPECT_EQ(fetch(gateway, "GET", "/v1/requests?limit=many").status, 400);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/requests/nothing").status, 404);
  gateway.world().queries = nullptr;
}

TEST_F(AdminRoutesTest, has_captures_of_turns_that_failed) {
  FakeServer model(loop_);
  TestGateway gateway(
      loop_, "store.url = \"sqlite::memory:\"\n[[upstream]]\nname = \"a\"\nurl = \"" + model.url() +
                 "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\nretries = 0\n");
  model.then({.pieces = {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n",
                         ": ping\n\n"},
              .breaks_off = true});
  gateway.ask(R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})",
              {{"x-request-id", "req_failed"}});
  const TestAnswer found = fetch(gateway, "GET", "/v1/requests/req_failed/capture");
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(found.header("content-type"), "application/x-ndjson");
  EXPECT_EQ(found.header("cache-control"), "no-store");
  EXPECT_THAT(found.body, HasSubstr("Half"));
  const TestAnswer missing = fetch(gateway, "GET", "/v1/requests/req%2Fother/capture");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr("there is no capture of \\\"req/other\\\" in memory"));
}

class SessionRoutesTest : public AdminRoutesTest {
 protected:
  static SessionTurn turn() {
    SessionTurn made;
    made.kept = {.chat = "chat-1", .parent = "resp-1", .session = "session-1"};
    made.owner = {.key_name = "ann", .upstream = "u", .model = "m", .name = "mine", .parent = ""};
    made.request = "req_1";
    return made;
  }

  store::ScratchFolder scratch_;
  store::Sessions sessions_{scratch_.url(), "a", {}};
};

TEST_F(SessionRoutesTest, shows_and_deletes_sessions) {
  TestGateway gateway(loop_, "");
  EXPECT_EQ(fetch(gateway, "GET", "/v1/sessions").status, 200);
  const TestAnswer unstored = fetch(gateway, "GET", "/v1/sessions/session-1");
  EXPECT_EQ(unstored.status, 404);
  EXPECT_THAT(unstored.body, HasSubstr("sessions are not stored"));
  EXPECT_EQ(fetch(gateway, "DELETE", "/v1/sessions/session-1").status, 404);
  StoredConversations& answers = gateway.world().conversations.answers;
  answers.set_store(&sessions_, true);
  gateway.run(answers.remember(loop_, turn()));
  const TestAnswer list = fetch(gateway, "GET", "/v1/sessions");
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.header("cache-control"), "no-store");
  EXPECT_THAT(list.body, HasSubstr("session-1"));
  EXPECT_EQ(fetch(gateway, "GET", "/v1/sessions?nonsense=1").status, 400);
  const TestAnswer one = fetch(gateway, "GET", "/v1/sessions/session%2D1");
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.header("cache-control"), "no-store");
  EXPECT_THAT(one.body, HasSubstr("\"mine\""));
  EXPECT_THAT(fetch(gateway, "GET", "/v1/sessions/other").body,
              HasSubstr("there is no session \\\"other\\\""));
  EXPECT_EQ(fetch(gateway, "DELETE", "/v1/sessions/other").status, 404);
  const TestAnswer gone = fetch(gateway, "DELETE", "/v1/sessions/session-1");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body, R"({"id":"session-1","object":"session","deleted":true})");
  EXPECT_EQ(fetch(gateway, "GET", "/v1/sessions/session-1").status, 404);
  answers.set_store(nullptr, false);
}

class ConversationRoutesTest : public AdminRoutesTest {
 protected:
  void append(TestGateway& gateway, std::string key, std::string pending = {}) {
    const auto run = [&]() -> net::Task<> {
      store::MemoryStep step;
      step.step = "step_1";
      step.messages = {R"({"role":"user","content":"Go"})",
                       R"({"role":"assistant","content":"Ok"})"};
      step.prompt = R"([{"role":"system","content":"Be kind"}])";
      step.bytes = 64;
      step.pending = std::move(pending);
      store::MemoryName name{std::move(key), "c1"};
      auto added = co_await gateway.world().memories.append(loop_, name, std::move(step));
      EXPECT_TRUE(added && *added);
    };
    gateway.run(run());
  }
};

TEST_F(ConversationRoutesTest, shows_and_deletes_what_a_key_has) {
  TestGateway gateway(loop_, std::string(kKeys));
  append(gateway, "ann");
  const TestAnswer found = fetch(gateway, "GET", "/v1/conversations/c1", kAnn);
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(found.header("cache-control"), "no-store");
  EXPECT_THAT(found.body,
              testing::StartsWith(R"({"id":"c1","object":"conversation","key":"ann",)"));
  EXPECT_THAT(found.body, HasSubstr(R"("waits_for_results":false)"));
  EXPECT_THAT(found.body,
              HasSubstr(R"("prompt":[{"role":"system","content":"Be kind"}],"messages":[)"
                        R"({"role":"user","content":"Go"},{"role":"assistant","content":"Ok"}])"));
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations/c%31?key=ann", kAnn).body, found.body);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations/c1?key=ann", kRoot).body, found.body);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations/c1", kRoot).status, 404);
  const TestAnswer foreign = fetch(gateway, "GET", "/v1/conversations/c1?key=bob", kAnn);
  EXPECT_EQ(foreign.status, 403);
  EXPECT_THAT(foreign.body, HasSubstr(R"("param":"key")"));
  const TestAnswer unknown = fetch(gateway, "DELETE", "/v1/conversations/c1?who=ann", kAnn);
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("unknown parameter \\\"who\\\"; known: key"));
  const TestAnswer gone = fetch(gateway, "DELETE", "/v1/conversations/c1", kAnn);
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body, R"({"id":"c1","object":"conversation","deleted":true})");
  const TestAnswer again = fetch(gateway, "DELETE", "/v1/conversations/c1", kAnn);
  EXPECT_EQ(again.status, 404);
  EXPECT_THAT(again.body, HasSubstr("there is no conversation \\\"c1\\\""));
  EXPECT_THAT(again.body, HasSubstr(R"("param":"id")"));
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations/c1", kAnn).status, 404);
}

TEST_F(ConversationRoutesTest, an_open_gateway_has_conversations_of_nobody) {
  TestGateway gateway(loop_, "");
  append(gateway, "", "{}");
  const TestAnswer found = fetch(gateway, "GET", "/v1/conversations/c1");
  EXPECT_EQ(found.status, 200);
  EXPECT_THAT(found.body, HasSubstr(R"("key":null)"));
  EXPECT_THAT(found.body, HasSubstr(R"("waits_for_results":true)"));
}

}  // namespace
}  // namespace callgate::server::admin_routes_test
