// What a turn leaves behind beside its answer: headers, captures, metrics, and rows of turns that went wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "capture/capture_format.h"
#include "gateway/gateway_client_testing.h"
#include "store/scratch_testing.h"

namespace callgate::server::turn_facts_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const HeaderPairs kPlain{};
const HeaderPairs kLoop{{"x-callgate-loop", "1"}};
constexpr std::string_view kQuestion =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";
constexpr std::string_view kWhole = R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";

std::string piece(std::string_view words) {
  return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(words) +
         "\"}}]}\n\n";
}
const std::string kStop =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

class TurnFactsTest : public testing::Test {
 protected:
  std::string config(std::string_view model_keys = {}, std::string_view head = {},
                     std::string_view upstream_keys = {}) const {
    return "store.url = \"sqlite::memory:\"\n" + std::string(head) +
           "[[upstream]]\nname = \"a\"\nurl = \"" + model_.url() + "\"\n" +
           std::string(upstream_keys) +
           "[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretry_backoff = \"1ms\"\n" +
           std::string(model_keys);
  }
  void answer() { model_.then({.pieces = {piece("Hello"), kStop}}); }
  static FakeServer::Reply busy() {
    return {.status = 503, .headers = {}, .pieces = {R"({"error":{"message":"busy"}})"}};
  }

  net::Loop loop_;
  FakeServer model_{loop_};
};

TEST_F(TurnFactsTest, says_what_the_body_is) {
  TestGateway gateway(loop_, config());
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    answer();
    const TestAnswer stream = gateway.ask(kQuestion, headers);
    EXPECT_THAT(stream.header("content-type"), HasSubstr("text/event-stream"));
    EXPECT_EQ(stream.header("cache-control"), "no-cache");
    answer();
    const TestAnswer whole = gateway.ask(kWhole, headers);
    EXPECT_EQ(whole.header("content-type"), "application/json");
    EXPECT_EQ(whole.header("x-callgate-tool-call-count"), "0");
    EXPECT_EQ(whole.header("x-callgate-tool-call-truncated"), "false");
    EXPECT_NE(whole.header("x-callgate-stop-after-tools-mode"), "");
    EXPECT_EQ(stream.header("x-callgate-tool-call-count"), "");
    model_.then({.status = 400, .headers = {}, .pieces = {R"({"error":{"message":"no"}})"}});
    EXPECT_EQ(gateway.ask(kWhole, headers).header("content-type"), "application/json");
  }
}

TEST_F(TurnFactsTest, sends_no_comments_to_clients_that_cannot_read_them) {
  TestGateway gateway(loop_, config({}, "limits.keepalive_comment = \"10ms\"\n"));
  for (const HeaderPairs& path : {kPlain, kLoop}) {
    for (const bool wanted : {true, false}) {
      net::Signal go(loop_);
      model_.then({.pieces = {piece("Hello"), kStop}, .after_first = &go});
      loop_.spawn([](net::Loop& loop, net::Signal& signal) -> net::Task<> {
        co_await loop.sleep(net::Millis(150));
        signal.notify();
      }(loop_, go));
      HeaderPairs headers = path;
      if (!wanted) headers.emplace_back("x-no-keepalive", "1");
      const TestAnswer answered = gateway.ask(kQuestion, headers);
      EXPECT_THAT(answered.body, HasSubstr("Hello"));
      EXPECT_EQ(answered.body.find(": keep-alive\n\n") != std::string::npos, wanted);
    }
  }
}

TEST_F(TurnFactsTest, gives_a_request_its_id_or_one_of_its_own) {
  TestGateway gateway(loop_, config());
  answer();
  EXPECT_EQ(gateway.ask(kQuestion, {{"x-request-id", "mine-1"}}).header("x-request-id"), "mine-1");
  EXPECT_EQ(gateway.log().rows().back().record.id, "mine-1");
  answer();
  const TestAnswer minted = gateway.ask(kQuestion, {{"x-request-id", "not one"}});
  EXPECT_THAT(minted.header("x-request-id"), testing::StartsWith("req_"));
  EXPECT_EQ(gateway.log().rows().back().record.id, minted.header("x-request-id"));
}

TEST_F(TurnFactsTest, counts_retries_of_a_turn_and_of_a_loop) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, config("retries = 1\n"));
    model_.then(busy());
    answer();
    EXPECT_EQ(gateway.ask(kQuestion, headers).status, 200);
    EXPECT_EQ(gateway.log().rows().back().outcome.attempts, 2);
    const std::string metrics = gateway.world().metrics.render();
    EXPECT_THAT(metrics, HasSubstr("callgate_upstream_retries_total{upstream=\"a\"} 1\n"));
    EXPECT_THAT(
        metrics,
        HasSubstr("callgate_upstream_requests_total{upstream=\"a\",result=\"failed\"} 1\n"));
    EXPECT_THAT(metrics,
                HasSubstr("callgate_upstream_requests_total{upstream=\"a\",result=\"ok\"} 1\n"));
    EXPECT_THAT(metrics, HasSubstr("callgate_upstream_up{upstream=\"a\"} 1\n"));
    EXPECT_THAT(metrics, HasSubstr("callgate_streams_active 0\n"));
  }
}

TEST_F(TurnFactsTest, asks_the_upstream_with_its_credential_its_headers_and_its_name_of_the_model) {
  std::string authorization;
  std::string team;
  std::string path;
  std::string body;
  net::HttpServer upstream(loop_, {}, [&](net::Exchange& exchange) -> net::Task<> {
    const auto read = co_await exchange.body();
    if (read) body = *read;
    const net::Headers& headers = exchange.head().headers;
    authorization = headers.find("authorization").value_or("");
    team = headers.find("x-team").value_or("");
    path = exchange.head().path;
    (void)co_await exchange.respond(200, "text/event-stream", piece("Hello") + kStop);
  });
  const auto bound = upstream.listen({.host = "127.0.0.1"});
  ASSERT_TRUE(bound);
  TestGateway gateway(
      loop_, "[[upstream]]\nname = \"a\"\nurl = \"http://127.0.0.1:" + std::to_string(bound->port) +
                 "/v7\"\nkey = \"up-secret\"\nheaders = { x-team = \"blue\" }\n"
                 "[[model]]\nname = \"m\"\nid = \"real/m\"\nupstream = \"a\"\n");
  EXPECT_EQ(gateway.ask(kQuestion).status, 200);
  EXPECT_EQ(authorization, "Bearer up-secret");
  EXPECT_EQ(team, "blue");
  EXPECT_EQ(path, "/v7/chat/completions");
  EXPECT_THAT(body, HasSubstr(R"("model":"real/m")"));
  EXPECT_THAT(body, HasSubstr(R"("stream":true)"));
  EXPECT_EQ(gateway.log().rows().back().record.model, "m");
  EXPECT_EQ(gateway.ask(kWhole).status, 200);
  EXPECT_THAT(body, Not(HasSubstr(R"("stream":true)")));
}

TEST_F(TurnFactsTest, keeps_what_was_received_sent_and_answered) {
  TestGateway gateway(loop_, config());
  answer();
  gateway.ask(kQuestion);
  const store::RequestRow& row = gateway.log().rows().back();
  EXPECT_EQ(row.record.received, kQuestion);
  EXPECT_EQ(row.outcome.sent, model_.asked().back().body);
  EXPECT_THAT(row.outcome.response, HasSubstr("\"content\":\"Hello\""));
  EXPECT_THAT(row.outcome.events, HasSubstr("Hello"));
  EXPECT_THAT(row.outcome.search, HasSubstr("Hello"));
  EXPECT_THAT(row.outcome.search, HasSubstr("hi"));
  EXPECT_EQ(row.record.stream, true);
  EXPECT_EQ(row.record.protocol, "openai_chat");
  EXPECT_THAT(row.record.client_address, testing::StartsWith("127.0.0.1"));
  EXPECT_TRUE(row.outcome.first_byte_ms);
  EXPECT_TRUE(row.outcome.first_token_ms);
  EXPECT_GT(row.outcome.frames, 0);
  answer();
  gateway.ask(kWhole);
  EXPECT_EQ(gateway.log().rows().back().record.stream, false);
}

TEST_F(TurnFactsTest, keeps_no_content_that_is_not_wanted) {
  TestGateway gateway(loop_, config("log_content = false\n"));
  answer();
  gateway.ask(kQuestion);
  const store::RequestRow& row = gateway.log().rows().back();
  EXPECT_EQ(row.record.received + row.outcome.sent + row.outcome.response + row.outcome.events +
                row.outcome.search,
            "");
  EXPECT_EQ(row.outcome.finish_reason, FinishReason::stop);
}

TEST_F(TurnFactsTest, says_where_it_asked_when_there_was_nothing) {
  TestGateway gateway(loop_, config("retries = 0\n"));
  model_.then({.status = 404, .headers = {}, .pieces = {R"({"error":{"message":"no"}})"}});
  const std::string body = gateway.ask(kQuestion).body;
  EXPECT_THAT(body, HasSubstr("(upstream \\\"a\\\", POST " + model_.url() + "/chat/completions"));
  EXPECT_THAT(body, HasSubstr("its URL may lack /v1)"));
}

class CapturedTurnTest : public TurnFactsTest {
 protected:
  // The lines of a capture whose request asked for it.
  CaptureRecord capture(std::string_view question, const HeaderPairs& more = {}) {
    {
      TestGateway gateway(
          loop_, config("retries = 0\n", "[capture]\ndir = \"" + scratch_.path() + "\"\n"));
      id_ = "req_" + std::to_string(++count_);
      HeaderPairs headers{{"x-callgate-capture", "1"}, {"x-request-id", id_}};
      headers.insert(headers.end(), more.begin(), more.end());
      answer_ = gateway.ask(question, headers);
    }  // its writer is done
    std::ifstream in(scratch_.path() + "/" + id_ + ".capture.jsonl", std::ios::binary);
    auto record = read_capture(std::string(std::istreambuf_iterator<char>(in), {}));
    EXPECT_TRUE(record) << (record ? "" : record.error().message);
    return record ? *record : CaptureRecord();
  }
  // The status and content type of the head that the client got, then its bytes.
  static std::string client_got(const CaptureRecord& record) {
    std::string text;
    for (const CaptureLine& line : record.lines) {
      if (line.direction != Direction::client_out) continue;
      if (line.kind == CaptureLine::Kind::head) {
        text += std::to_string(line.head.status) + " ";
        for (const auto& [name, value] : line.head.headers) {
          if (name == "content-type") text += value + " ";
        }
      } else {
        text += line.bytes;
      }
    }
    return text;
  }

  store::ScratchFolder scratch_;
  TestAnswer answer_;
  std::string id_;
  int count_ = 0;
};

// docs/capture.md says which.
TEST_F(CapturedTurnTest, has_the_headers_that_were_received_and_not_those_that_http_adds) {
  answer();
  const CaptureRecord record = capture(kQuestion);
  const auto has = [&](Direction direction, std::string_view name) {
    bool found = false;
    for (const CaptureLine& line : record.lines) {
      if (line.direction != direction || line.kind != CaptureLine::Kind::head) continue;
      for (const auto& [known, value] : line.head.headers) found = found || known == name;
    }
    return found;
  };
  EXPECT_TRUE(has(Direction::upstream_in, "date"));
  EXPECT_TRUE(has(Direction::client_in, "host"));
  EXPECT_FALSE(has(Direction::upstream_out, "host"));
  EXPECT_FALSE(has(Direction::client_out, "date"));
  EXPECT_FALSE(has(Direction::client_out, "server"));
  EXPECT_FALSE(has(Direction::client_out, "connection"));
}

TEST_F(CapturedTurnTest, has_the_head_and_all_bytes_that_the_client_got) {
  answer();
  const std::string stream = client_got(capture(kQuestion));
  EXPECT_EQ(answer_.header("x-callgate-capture"), id_);
  EXPECT_EQ(stream, "200 " + answer_.header("content-type") + " " + answer_.body);
  answer();
  const std::string whole = client_got(capture(kWhole));
  EXPECT_EQ(whole, "200 application/json " + answer_.body);
  model_.then(busy());
  const std::string refused = client_got(capture(kWhole));
  EXPECT_EQ(refused, "503 application/json " + answer_.body);
}

class AdmissionTest : public TurnFactsTest {};

TEST_F(AdmissionTest, says_what_is_left_of_a_keys_rate) {
  TestGateway gateway(loop_, config("",
                                    "[[key]]\nname = \"dev\"\nsecret = \"dev-secret\"\n"
                                    "requests_per_minute = 1\n"));
  const HeaderPairs key{{"authorization", "Bearer dev-secret"}};
  answer();
  const TestAnswer first = gateway.ask(kQuestion, key);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("x-ratelimit-limit-requests"), "1");
  EXPECT_EQ(first.header("x-ratelimit-remaining-requests"), "0");
  EXPECT_NE(first.header("x-ratelimit-reset-requests"), "");
  EXPECT_EQ(first.header("retry-after"), "");
  EXPECT_EQ(gateway.log().rows().back().record.key_name, "dev");
  const TestAnswer second = gateway.ask(kQuestion, key);
  EXPECT_EQ(second.status, 429);
  EXPECT_THAT(second.body, HasSubstr("rate_limit_exceeded"));
  EXPECT_THAT(second.body, HasSubstr("rate limit of 1 requests per minute reached for key"));
  const int seconds = std::stoi(second.header("retry-after"));
  const int milliseconds = std::stoi(second.header("retry-after-ms"));
  EXPECT_GE(seconds * 1000, milliseconds);
  EXPECT_LT(seconds * 1000 - milliseconds, 1000);
  EXPECT_THAT(gateway.world().metrics.render(),
              HasSubstr("callgate_rate_limited_total{key=\"dev\"} 1\n"));
}

TEST_F(AdmissionTest, refuses_turns_in_maintenance_and_while_it_drains) {
  TestGateway gateway(loop_, config("", "maintenance = true\n"));
  const TestAnswer maintenance = gateway.ask(kQuestion);
  EXPECT_EQ(maintenance.status, 503);
  EXPECT_EQ(maintenance.header("retry-after"), "5");
  EXPECT_THAT(maintenance.body, HasSubstr("the gateway is in maintenance"));
  EXPECT_EQ(fetch(gateway, "GET", "/readyz").status, 503);
  EXPECT_THAT(fetch(gateway, "GET", "/readyz").body, HasSubstr("\"status\":\"maintenance\""));
  EXPECT_EQ(fetch(gateway, "GET", "/livez").status, 200);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/models").status, 200);
  gateway.world().draining = true;
  EXPECT_THAT(gateway.ask(kQuestion).body, HasSubstr("the gateway is shutting down"));
  EXPECT_THAT(fetch(gateway, "GET", "/readyz").body, HasSubstr("\"status\":\"draining\""));
  EXPECT_EQ(gateway.log().rows().size(), 0u);
}

TEST_F(AdmissionTest, runs_so_many_turns_of_a_key_at_a_time) {
  TestGateway gateway(loop_, config("",
                                    "[[key]]\nname = \"dev\"\nsecret = \"dev-secret\"\n"
                                    "max_streams = 1\n"));
  const HeaderPairs key{{"x-api-key", "dev-secret"}};
  net::Signal go(loop_);
  model_.then({.pieces = {piece("Hel"), kStop}, .before = nullptr, .after_first = &go});
  TestAnswer second;
  const auto clients = [&]() -> net::Task<> {
    net::ClientExchange first(gateway.client(), gateway.target());
    const net::ClientRequest asked = TestGateway::request(kQuestion, key);
    const auto sent = co_await first.send(asked);
    EXPECT_TRUE(sent);
    net::ClientExchange other(gateway.client(), gateway.target());
    const net::ClientRequest again = TestGateway::request(kQuestion, key);
    const auto refused = co_await other.send(again);
    if (refused) {
      second.status = other.status();
      second.headers.emplace_back("retry-after", other.headers().find("retry-after").value_or(""));
      auto body = co_await other.read_all(1 << 20);
      if (body) second.body = *body;
    }
    go.notify();
    (void)co_await first.read_all(1 << 20);
  };
  gateway.run(clients());
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.header("retry-after"), "1");
  EXPECT_THAT(second.body, HasSubstr("too_many_streams"));
  EXPECT_THAT(second.body, HasSubstr("this key has too many requests running"));
  answer();
  EXPECT_EQ(gateway.ask(kQuestion, key).status, 200) << "the first one is over";
}

TEST_F(AdmissionTest, knows_which_methods_a_path_has) {
  TestGateway gateway(loop_, config());
  const TestAnswer head = fetch(gateway, "HEAD", "/v1/chat/completions");
  EXPECT_EQ(head.status, 405);
  EXPECT_EQ(head.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(fetch(gateway, "HEAD", "/livez").status, 200);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/chat/completions").status, 405);
  EXPECT_EQ(model_.asked().size(), 0u);
}

TEST_F(AdmissionTest, shows_one_model) {
  TestGateway gateway(loop_, config("aliases = [\"team/m\"]\n"));
  const TestAnswer found = fetch(gateway, "GET", "/v1/models/m");
  EXPECT_EQ(found.status, 200);
  EXPECT_THAT(found.body, HasSubstr(R"("id":"m")"));
  EXPECT_THAT(fetch(gateway, "GET", "/v1/models/team%2Fm").body, HasSubstr("team"));
  const TestAnswer missing = fetch(gateway, "GET", "/v1/models/mm");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr("mm"));
}

TEST_F(AdmissionTest, answers_the_questions_of_browsers) {
  TestGateway gateway(loop_, config("", "cors.origins = [\"https://app.example\"]\n"));
  const HeaderPairs page{{"origin", "https://app.example"},
                         {"access-control-request-headers", "x-mine"}};
  const TestAnswer asked = fetch(gateway, "OPTIONS", "/v1/chat/completions", page);
  EXPECT_EQ(asked.status, 204);
  EXPECT_EQ(asked.header("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(asked.header("access-control-allow-methods"), "GET, POST, DELETE, OPTIONS");
  EXPECT_EQ(asked.header("access-control-allow-headers"), "x-mine");
  EXPECT_EQ(asked.header("access-control-max-age"), "600");
  EXPECT_EQ(asked.header("vary"), "origin");
  EXPECT_THAT(asked.header("access-control-expose-headers"), HasSubstr("x-request-id"));
  // A page approves calls of the loop by its id, and waits as long as it is told to.
  for (const char* name :
       {"x-callgate-loop", "x-callgate-dropped", "x-ratelimit-remaining-requests"}) {
    EXPECT_THAT(asked.header("access-control-expose-headers"), HasSubstr(name));
  }
  const TestAnswer other =
      fetch(gateway, "OPTIONS", "/v1/models", {{"origin", "https://evil.example"}});
  EXPECT_EQ(other.header("access-control-allow-origin"), "");
  EXPECT_EQ(other.header("access-control-allow-headers"), "authorization, content-type");
  TestGateway open(loop_, config("", "cors.origins = [\"*\"]\n"));
  const TestAnswer any = fetch(open, "OPTIONS", "/v1/models", page);
  EXPECT_EQ(any.header("access-control-allow-origin"), "*");
  EXPECT_EQ(any.header("vary"), "");
}

}  // namespace
}  // namespace callgate::server::turn_facts_test
