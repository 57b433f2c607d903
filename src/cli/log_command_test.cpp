#include "callgate/version.h"
#include "cli/command_testing.h"

namespace callgate::cli::log_command_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Later than any clock says: `tail` forgets what is older than ten minutes.
std::string row(const std::string& id, const std::string& state, const std::string& time) {
  return R"({"id":")" + id + R"(","received_at":"9999-11-16T03:00:0)" + time +
         R"(.000Z","state":")" + state + R"(","model":"m","upstream":"u","status":200})";
}
std::string page(const std::string& rows, const std::string& cursor = "null") {
  return R"({"object":"list","data":[)" + rows + R"(],"next_cursor":)" + cursor + "}";
}
const std::string kOld = row("r1", "completed", "1");
const std::string kRunning = row("r2", "running", "2");
const std::string kNew = row("r3", "failed", "3");
const std::string kThree = kNew + "," + kRunning + "," + kOld;

class LogCommandTest : public CommandTest {};

TEST_F(LogCommandTest, searches_with_every_filter) {
  CannedServer gateway({reply(200, page(kThree))});
  const Ran ran = run_command({"log",
                               "search",
                               "--url",
                               gateway.url() + "/v1/",
                               "--key",
                               "k1",
                               "--since",
                               "2h",
                               "--model",
                               "a b",
                               "--key-name",
                               "ann",
                               "--tool",
                               "t",
                               "--state",
                               "failed",
                               "--finish-reason",
                               "stop",
                               "--has-tool-calls",
                               "true",
                               "--error",
                               "true",
                               "--missed-call",
                               "hermes",
                               "--session",
                               "s",
                               "--upstream",
                               "u",
                               "--limit",
                               "7",
                               "two",
                               "words"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  ASSERT_EQ(gateway.requests().size(), 1u);
  const std::string target = gateway.targets()[0];
  EXPECT_TRUE(target.starts_with("GET /v1/requests?limit=7&")) << target;
  for (const std::string part :
       {"since=2h", "model=a%20b", "key=ann", "tool=t", "state=failed", "finish_reason=stop",
        "has_tool_calls=true", "error=true", "missed_call=hermes", "session=s", "upstream=u"}) {
    EXPECT_THAT(target, HasSubstr("&" + part));
  }
  EXPECT_TRUE(target.ends_with("&text=two%20words")) << target;
  EXPECT_THAT(gateway.requests()[0], HasSubstr("authorization: Bearer k1\r\n"));
  EXPECT_THAT(gateway.requests()[0],
              HasSubstr("user-agent: callgate-log/" + std::string(kVersion) + "\r\n"));
  std::vector<std::string> ids;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) ids.push_back(line.substr(25, 2));
  EXPECT_THAT(ids, ElementsAre("r3", "r2", "r1")) << ran.out;
}

TEST_F(LogCommandTest, prints_rows_as_the_gateway_wrote_them) {
  CannedServer gateway({reply(200, page(kNew + "," + kOld))});
  const Ran ran = run_command({"log", "search", "--url", gateway.url(), "--json"});
  EXPECT_EQ(ran.out, kNew + "\n" + kOld + "\n");
  EXPECT_THAT(gateway.targets(), ElementsAre("GET /v1/requests?limit=20"));
  EXPECT_THAT(gateway.requests()[0], testing::Not(HasSubstr("authorization")));
}

TEST_F(LogCommandTest, asks_for_page_after_page) {
  std::string many;
  for (int i = 0; i < 200; ++i) many += (i > 0 ? "," : "") + kOld;
  CannedServer gateway({reply(200, page(many, R"("c/1")")), reply(200, page(kNew, R"("c2")")),
                        reply(200, page(kOld))});
  const Ran ran = run_command({"log", "search", "--url", gateway.url(), "--json", "-n", "203"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(gateway.targets(),
              ElementsAre("GET /v1/requests?limit=200", "GET /v1/requests?limit=3&cursor=c%2F1",
                          "GET /v1/requests?limit=2&cursor=c2"));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 202);

  CannedServer enough({reply(200, page(kNew + "," + kOld, R"("more")"))});
  EXPECT_EQ(run_command({"log", "search", "--url", enough.url(), "-n", "2"}).exit_code, 0);
  EXPECT_EQ(enough.requests().size(), 1u) << "as many as were asked for";
}

TEST_F(LogCommandTest, shows_one_turn) {
  CannedServer last({reply(200, page(kNew)), reply(200, kNew)});
  const Ran ran = run_command({"log", "show", "--url", last.url()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(last.targets(), ElementsAre("GET /v1/requests?limit=1", "GET /v1/requests/r3"));
  EXPECT_THAT(ran.out, HasSubstr("r3  9999-11-16 03:00:03.000\n"));

  CannedServer named({reply(200, kOld)});
  const Ran json = run_command({"log", "show", "a/b", "--json", "--url", named.url()});
  EXPECT_THAT(named.targets(), ElementsAre("GET /v1/requests/a%2Fb"));
  EXPECT_EQ(json.out, kOld + "\n");

  CannedServer empty({reply(200, page(""))});
  const Ran none = run_command({"log", "show", "--url", empty.url()});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err, "callgate log: the log is empty\n");
}

TEST_F(LogCommandTest, prints_a_capture_as_it_is) {
  CannedServer gateway({reply(200, "{\"capture\":1}\n", "application/x-ndjson")});
  const Ran ran = run_command({"log", "capture", "r1", "--url", gateway.url()});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, "{\"capture\":1}\n");
  EXPECT_THAT(gateway.targets(), ElementsAre("GET /v1/requests/r1/capture"));
}

TEST_F(LogCommandTest, tail_prints_what_has_ended_the_oldest_first) {
  CannedServer gateway({reply(200, page(kThree))});
  const Ran ran =
      run_command({"log", "tail", "--no-follow", "--json", "-n", "5", "--url", gateway.url()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, kOld + "\n" + kNew + "\n");
  EXPECT_THAT(gateway.targets(), ElementsAre("GET /v1/requests?limit=5"));
}

TEST_F(LogCommandTest, tail_prints_each_request_once) {
  const std::string ended = row("r2", "completed", "2");
  CannedServer gateway({reply(200, page(kThree)), reply(200, page(kNew + "," + ended)),
                        reply(500, R"({"error":{"message":"stopped"}})")});
  const Ran ran = run_command(
      {"log", "tail", "--json", "--interval", "0.05", "--model", "m", "--url", gateway.url()});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, kOld + "\n" + kNew + "\n" + ended + "\n");
  EXPECT_EQ(ran.err, "callgate log: stopped (status 500)\n");
  ASSERT_EQ(gateway.requests().size(), 3u);
  EXPECT_EQ(gateway.targets()[1],
            "GET /v1/requests?limit=200&model=m&since=9999-11-16T03%3A00%3A02.000Z")
      << "since the oldest that runs";
  EXPECT_THAT(gateway.targets()[2], HasSubstr("&since=9999-11-16T03%3A00%3A03.000Z"));
}

TEST_F(LogCommandTest, says_what_to_do_about_a_refusal) {
  const std::string hint = "Give a key with admin = true: --key KEY, or CALLGATE_KEY.\n";
  const std::pair<int, std::string> rows[] = {
      {401, "callgate log: no (status 401)\n" + hint},
      {403, "callgate log: no (status 403)\n" + hint},
      {404, "callgate log: no (status 404)\n"},
      {500, "callgate log: no (status 500)\n"},
  };
  for (const std::vector<std::string>& action : std::vector<std::vector<std::string>>{
           {"search"}, {"show"}, {"show", "r1"}, {"capture", "r1"}, {"tail"}}) {
    for (const auto& [status, expected] : rows) {
      CannedServer gateway({reply(status, R"({"error":{"code":1,"message":"no"},"x":2})")});
      std::vector<std::string> words{"log"};
      words.insert(words.end(), action.begin(), action.end());
      words.insert(words.end(), {"--url", gateway.url()});
      const Ran ran = run_command(words);
      EXPECT_EQ(ran.exit_code, 1) << action[0] << status;
      EXPECT_EQ(ran.err, expected) << action[0] << status;
      EXPECT_EQ(ran.out, "");
    }
  }
}

TEST_F(LogCommandTest, says_that_something_else_listens_there) {
  for (const std::string body :
       {"<html>", "{}", R"({"error":"no"})", R"({"error":{"message":"no"}} and more)"}) {
    CannedServer page({reply(502, body)});
    EXPECT_EQ(run_command({"log", "show", "--url", page.url()}).err,
              "callgate log: this is not the answer of a gateway (status 502)\n")
        << body;
  }
  CannedServer other({reply(200, "<html>")});
  const Ran ran = run_command({"log", "search", "--url", other.url()});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err, "");
}

TEST_F(LogCommandTest, says_what_to_do_when_nothing_listens) {
  std::string url;
  { url = CannedServer({}).url(); }
  const Ran ran = run_command({"log", "search", "--url", url});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("Start the gateway, correct --url, or read the store itself"));
  EXPECT_EQ(run_command({"log", "search", "--url", "gopher://x"}).exit_code, 1);
}

TEST_F(LogCommandTest, marks_a_request_as_resolved) {
  const std::string resolved =
      R"({"id":"r3","received_at":"9999-11-16T03:00:03.000Z","state":"failed","model":"m","upstream":"u",)"
      R"("resolved":{"at":"2026-11-18T10:00:00.000Z","note":"quota raised"}})";
  CannedServer gateway({reply(200, resolved), reply(200, resolved), reply(200, page(kNew))});
  const Ran ran =
      run_command({"log", "resolve", "r3", "--note", "quota \"raised\"", "--url", gateway.url()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(gateway.targets().at(0), "POST /v1/requests/r3");
  EXPECT_THAT(gateway.requests().at(0),
              HasSubstr(R"({"resolved":true,"note":"quota \"raised\""})"));
  EXPECT_THAT(ran.out, HasSubstr("resolved: quota raised"));
  EXPECT_THAT(run_command({"log", "show", "r3", "--url", gateway.url()}).out,
              HasSubstr("resolved 2026-11-18T10:00:00.000Z: quota raised"));
  (void)run_command({"log", "search", "--unresolved", "--url", gateway.url()});
  EXPECT_THAT(gateway.targets().at(2), HasSubstr("error=true&resolved=false"));
  CannedServer again({reply(200, resolved)});
  (void)run_command({"log", "resolve", "r3", "--undo", "--url", again.url()});
  EXPECT_THAT(again.requests().at(0), HasSubstr(R"({"resolved":false})"));
}

TEST_F(LogCommandTest, reads_a_store) {
  const std::string url = "sqlite:" + path_of("log.db");
  const Ran missing = run_command({"log", "search", "--store", url});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("log.db"));
  EXPECT_FALSE(std::filesystem::exists(path_of("log.db"))) << "a log that is read is not made";

  ASSERT_EQ(run_command({"store", "migrate", "--url", url}).exit_code, 0);
  const Ran empty = run_command({"log", "search", "--store", url});
  EXPECT_EQ(empty.exit_code, 0) << empty.err;
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(run_command({"log", "show", "--store", url}).err, "callgate log: the log is empty\n");
  const Ran nobody = run_command({"log", "resolve", "req_1", "--store", url});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("there is no request \"req_1\" in the log"));
  const Ran wrong = run_command({"log", "search", "--store", url, "--since", "soon"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("since"));
}

}  // namespace
}  // namespace callgate::cli::log_command_test
