#include "callgate/version.h"
#include "cli/command_testing.h"
#include "cli/smoke_run.h"
#include "json/member.h"
#include "net/digest.h"

namespace callgate::cli::smoke_command_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string frame(const std::string& choices) {
  return R"(data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[)" +
         choices + "]}\n\n";
}
std::string delta(const std::string& members, const std::string& finish = "null") {
  return frame(R"({"index":0,"delta":{)" + members + R"(},"finish_reason":)" + finish + "}");
}
const std::string kBegin =
    delta(R"("role":"assistant","content":"")") + delta(R"("content":"Hm.")") +
    delta(
        R"("tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"get_weather","arguments":""}}])");
const std::string kArguments =
    delta(R"("tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}])");
const std::string kEnd = delta("", "\"tool_calls\"") + "data: [DONE]\n\n";
const std::string kGood = kBegin + kArguments + kEnd;

CannedServer::Answer stream(const std::string& body) {
  return reply(200, body, "text/event-stream");
}

// Sends what it has and breaks off before the length it announced.
CannedServer::Answer broken(const std::string& body) {
  return [=](net::RawSocket& socket) {
    socket.send(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n" +
        body);
  };
}

// Sends what it has and waits for the client to leave.
CannedServer::Answer waiting(const std::string& body) {
  return [=](net::RawSocket& socket) {
    socket.send(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n" +
        body);
    socket.receive_all();
  };
}

std::string seen_of(const SmokeAnswer& answer, std::string_view rule) {
  for (const contract::RuleVerdict& verdict : answer.verdicts) {
    if (verdict.rule == rule) return std::string(to_string(verdict.verdict)) + ": " + verdict.seen;
  }
  return "no such rule";
}

class SmokeCommandTest : public CommandTest {
 protected:
  Ran smoke(const CannedServer& server, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"smoke", "--url", server.url() + "/v1", "--model", "m"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
};

TEST_F(SmokeCommandTest, passes_a_server_that_keeps_the_rules) {
  CannedServer server({stream(kGood)});
  const Ran ran = smoke(server, {"--key", "hunter2-hunter2"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.err, "");
  ASSERT_EQ(server.requests().size(), 1u);
  const std::string request = server.requests()[0];
  EXPECT_EQ(server.targets()[0], "POST /v1/chat/completions");
  EXPECT_THAT(request, AllOf(HasSubstr("content-type: application/json\r\n"),
                             HasSubstr("accept: text/event-stream\r\n"),
                             HasSubstr("user-agent: callgate-smoke/" + std::string(kVersion)),
                             HasSubstr("authorization: Bearer hunter2-hunter2\r\n")));
  EXPECT_THAT(request,
              AllOf(HasSubstr(R"("model":"m")"), HasSubstr(R"("temperature":0)"),
                    HasSubstr(R"("tool_choice":"auto")"), Not(HasSubstr("include_usage"))));
  EXPECT_THAT(ran.out, Not(HasSubstr("hunter2")));
}

TEST_F(SmokeCommandTest, sends_what_the_options_say) {
  CannedServer server({stream(kGood)});
  const Ran ran = smoke(server, {"--include-usage", "--force-tool", "--temperature", "none"});
  EXPECT_EQ(ran.exit_code, 1) << "the server sent no usage";
  const std::string request = server.requests().at(0);
  EXPECT_THAT(request, AllOf(HasSubstr(R"("include_usage":true)"), HasSubstr(R"("tool_choice":{)"),
                             Not(HasSubstr("temperature")), Not(HasSubstr("authorization"))));
}

TEST_F(SmokeCommandTest, reports_for_machines) {
  CannedServer good({stream(kGood)});
  const Ran passed = smoke(good, {"--json"});
  EXPECT_EQ(passed.exit_code, 0);
  EXPECT_THAT(passed.out, HasSubstr(R"("passed":true)"));
  CannedServer bad({stream(kBegin + kEnd)});
  const Ran failed = smoke(bad, {"--json"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr(R"("passed":false)"));
}

// The hash of what was said is the same for streams that say the same; that of the bytes is not.
TEST_F(SmokeCommandTest, prints_the_hash_of_the_stream_as_it_came) {
  std::string other = kGood;
  for (std::size_t at = 0; (at = other.find("\"created\":1", at)) != std::string::npos; ++at) {
    other.replace(at, 11, "\"created\":2");
  }
  const auto hashes = [&](const std::string& body) {
    CannedServer server({stream(body)});
    const std::string out = smoke(server, {"--json"}).out;
    return std::pair(json::member_text(out, "sha256"), json::member_text(out, "sha256_raw"));
  };
  const auto [said, raw] = hashes(kGood);
  const auto [said_again, other_raw] = hashes(other);
  EXPECT_EQ(said.size(), 64u);
  EXPECT_EQ(raw, net::sha256_hex(kGood));
  EXPECT_EQ(other_raw, net::sha256_hex(other));
  EXPECT_EQ(said, said_again);
  EXPECT_NE(raw, other_raw);
}

TEST_F(SmokeCommandTest, asks_as_often_as_it_is_told) {
  CannedServer server({stream(kGood), stream(kGood), stream(kGood)});
  EXPECT_EQ(smoke(server, {"--repeat", "3"}).exit_code, 0);
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST_F(SmokeCommandTest, keeps_an_answer_and_notices_another) {
  const std::vector<std::string> out{"--out", path_of("kept"), "--name", "a/b"};
  CannedServer first({stream(kGood)});
  EXPECT_EQ(smoke(first, out).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "kept/a_b.sse"), kGood);
  std::string other = kGood;
  other.replace(other.find("Paris"), 5, "Tokyo");
  CannedServer second({stream(other)});
  const Ran changed = smoke(second, out);
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.out, HasSubstr("--update"));
  EXPECT_EQ(read_file(folder_ / "kept/a_b.new.sse"), other);
  CannedServer third({stream(other)});
  std::vector<std::string> update = out;
  update.push_back("--update");
  EXPECT_EQ(smoke(third, update).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "kept/a_b.sse"), other);

  CannedServer fourth({stream(kGood)});
  const Ran blocked = smoke(fourth, {"--out", write("file", "") + "/x"});
  EXPECT_EQ(blocked.exit_code, 2);
  EXPECT_THAT(blocked.err, HasSubstr("Choose another folder with --out."));
}

TEST_F(SmokeCommandTest, names_the_dialect_of_a_call_that_stayed_text) {
  CannedServer server({stream(
      delta(R"("role":"assistant","content":"")") +
      delta(
          R"("content":"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>")") +
      delta("", "\"stop\"") + "data: [DONE]\n\n")});
  const Ran ran = smoke(server);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("hermes"));
}

TEST_F(SmokeCommandTest, exits_with_2_when_the_server_cannot_be_asked) {
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{"smoke", "--model", "m"}, "--url is missing"},
      {{"smoke", "--url", "http://127.0.0.1:1"}, "--model is missing"},
      {{"smoke", "--url", "gopher://x", "--model", "m"}, "gopher"},
  };
  for (const auto& [words, message] : rows) {
    const Ran ran = run_command(words);
    EXPECT_EQ(ran.exit_code, 2) << message;
    EXPECT_THAT(ran.err, HasSubstr("callgate smoke: "));
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
  std::string url;
  { url = CannedServer({}).url(); }
  const Ran closed = run_command({"smoke", "--url", url, "--model", "m", "--json"});
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_THAT(closed.err, HasSubstr("Nothing listens there."));
  EXPECT_THAT(closed.out, AllOf(HasSubstr(R"({"passed":false,"error":")"),
                                HasSubstr(R"("advice":"Nothing listens there.)")));
  CannedServer mute({[](net::RawSocket& socket) { socket.receive_all(); }});
  EXPECT_THAT(smoke(mute, {"--timeout", "0.1"}).err, HasSubstr("Wait longer with --timeout"));
  CannedServer noise({[](net::RawSocket& socket) { socket.send("220 mail\r\n"); }});
  const Ran mail = smoke(noise);
  EXPECT_EQ(mail.exit_code, 2);
  EXPECT_THAT(mail.err, HasSubstr("Something listens there that does not speak HTTP"));
}

TEST_F(SmokeCommandTest, says_what_to_do_about_a_refusal) {
  const std::pair<int, std::string> rows[] = {{401, "Give a valid key: --key KEY"},
                                              {403, "Give a valid key: --key KEY"},
                                              {404, "Correct --url (it usually ends with /v1)"}};
  for (const auto& [status, advice] : rows) {
    CannedServer server({reply(status, R"({"error":{"message":"no"}})")});
    const Ran ran = smoke(server);
    EXPECT_EQ(ran.exit_code, 2) << status;
    EXPECT_THAT(ran.err, HasSubstr(advice)) << status;
  }
}

TEST_F(SmokeCommandTest, leaves_an_answer_and_asks_again) {
  CannedServer begun({waiting(kBegin), stream(kGood)});
  const Ran ran = smoke(begun, {"--disconnect-after-first-tool"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("survives_disconnect"));
  EXPECT_EQ(begun.requests().size(), 2u);
  CannedServer whole({waiting(kBegin + kArguments), reply(503, "{}")});
  const Ran failed = smoke(whole, {"--disconnect-after-first-tool=end"});
  EXPECT_NE(failed.exit_code, 0);
}

TEST(SmokeRun, reports_a_stream_that_breaks_off) {
  CannedServer server({broken(kBegin)});
  const Result<SmokeRun> run = run_smoke({.url = server.url(), .question = {.model = "m"}});
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->answers.size(), 1u);
  const SmokeAnswer& answer = run->answers[0];
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.bytes, kBegin);
  EXPECT_FALSE(answer.left);
  EXPECT_THAT(seen_of(answer, "stream_complete"), testing::StartsWith("fail: "));
  EXPECT_FALSE(run->after_leaving);
}

TEST(SmokeRun, measures_and_masks) {
  std::string body = kGood;
  body.replace(body.find("Hm."), 3, "hunter2-hunter2");
  CannedServer server({stream(body)});
  SmokeOptions options{.url = server.url(), .question = {.model = "m"}};
  options.key = Secret("hunter2-hunter2");
  const Result<SmokeRun> run = run_smoke(options);
  ASSERT_TRUE(run) << run.error().message;
  const SmokeAnswer& answer = run->answers.at(0);
  EXPECT_THAT(answer.bytes, AllOf(HasSubstr("\"***\""), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(seen_of(answer, "no_secrets"), testing::StartsWith("fail: "));
  EXPECT_THAT(seen_of(answer, "stream_complete"), testing::StartsWith("pass: "));
  EXPECT_GT(answer.times.first_byte, 0);
  ASSERT_TRUE(answer.times.first_token && answer.times.first_call);
  EXPECT_LE(answer.times.first_byte, *answer.times.first_token);
  EXPECT_LE(*answer.times.first_token, answer.times.total);
  EXPECT_LE(*answer.times.first_call, answer.times.total);
}

TEST(SmokeRun, judges_what_follows_a_disconnect) {
  const auto after = [](std::vector<CannedServer::Answer> answers) {
    CannedServer server(std::move(answers));
    SmokeOptions options{.url = server.url(), .question = {.model = "m"}};
    options.leave = SmokeOptions::Leave::call_begun;
    const Result<SmokeRun> run = run_smoke(options);
    if (!run) return run.error().message;
    return run->after_leaving ? std::string(to_string(run->after_leaving->verdict)) + ": " +
                                    run->after_leaving->seen
                              : std::string("not judged");
  };
  EXPECT_THAT(after({waiting(kBegin), stream(kGood)}),
              testing::MatchesRegex(
                  "pass: left after frame 3; the next request was answered in [0-9]+ ms"));
  EXPECT_THAT(after({waiting(kBegin), reply(503, "{}")}), testing::EndsWith("got 503"));
  EXPECT_THAT(after({waiting(kBegin), [](net::RawSocket& socket) { socket.reset(); }}),
              HasSubstr("; the next request failed: "));
  EXPECT_EQ(after({stream(delta(R"("content":"Hm.")") + kEnd), stream(kGood)}),
            "not_applicable: no call to leave at");
}

}  // namespace
}  // namespace callgate::cli::smoke_command_test
