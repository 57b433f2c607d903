// What the gateway lets in: pages, names, keys, bodies, and what it says to those whom it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "gateway/gateway_testing.h"

namespace callgate::server::edge_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kEdgeQuestion =
    R"({"model":"m","messages":[{"role":"user","content":"Hi"}]})";
constexpr std::string_view kEdgeAnswer =
    "data: "
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}"
    "\n\ndata: [DONE]\n\n";

class EdgeTest : public testing::Test {
 protected:
  std::string config(std::string_view more = {}) const {
    return "store.url = \"sqlite::memory:\"\n" + std::string(more) +
           "[[upstream]]\nname = \"a\"\nurl = \"" + model_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretry_backoff = \"1ms\"\n" +
           "[[model]]\nname = \"payroll-model\"\nupstream = [\"a\"]\n";
  }

  // The answer to bytes that no well-behaved client sends. REQUIRES: they ask for the connection to be closed.
  static std::string send_raw(TestGateway& gateway, std::string_view bytes) {
    net::RawSocket socket = net::RawSocket::connect(gateway.target().port);
    EXPECT_TRUE(socket.send(bytes));
    wait_until_readable(gateway, socket);
    return socket.receive_all();
  }
  static void wait_until_readable(TestGateway& gateway, const net::RawSocket& socket) {
    const auto wait = [](net::Loop& loop, int fd) -> net::Task<> {
      pollfd readable{fd, POLLIN, 0};
      for (int i = 0; i < 10'000 && ::poll(&readable, 1, 0) == 0; ++i) {
        co_await loop.sleep(net::Millis(1));
      }
      co_await loop.sleep(net::Millis(1));
    };
    gateway.run(wait(gateway.loop(), socket.fd()));
  }
  static std::string get(TestGateway& gateway, std::string_view path, std::string_view lines = {},
                         std::string_view host = "localhost") {
    return send_raw(gateway, "GET " + std::string(path) +
                                 " HTTP/1.1\r\nconnection: close\r\nhost: " + std::string(host) +
                                 "\r\n" + std::string(lines) + "\r\n");
  }

  net::Loop loop_;
  FakeServer model_{loop_};
};

TEST_F(EdgeTest, a_page_of_another_origin_starts_no_turn) {
  TestGateway gateway(loop_, config());
  const TestAnswer foreign = gateway.ask(kEdgeQuestion, {{"origin", "https://evil.example"}});
  EXPECT_EQ(foreign.status, 403);
  EXPECT_THAT(foreign.body, HasSubstr("cors.origins"));
  EXPECT_EQ(gateway.ask(kEdgeQuestion, {{"origin", "https://evil.example"}}, "/v1/loops/x/approve")
                .status,
            403);
  EXPECT_TRUE(model_.asked().empty());
  model_.then({.pieces = {std::string(kEdgeAnswer)}});
  EXPECT_EQ(gateway.ask(kEdgeQuestion, {{"origin", "http://localhost:3000"}}).status, 200);
}

TEST_F(EdgeTest, a_name_pointed_at_this_machine_reads_nothing) {
  TestGateway gateway(loop_, config());
  for (const std::string_view path :
       {"/v1/requests", "/v1/models", "/v1/sessions", "/v1/loops", "/v1/rooms/x", "/metrics"}) {
    EXPECT_THAT(get(gateway, path, "", "evil.example:8080"), StartsWith("HTTP/1.1 403 ")) << path;
    EXPECT_THAT(get(gateway, path), Not(StartsWith("HTTP/1.1 403 "))) << path;
  }
  for (const std::string_view path : {"/livez", "/readyz", "/healthz"}) {
    EXPECT_THAT(get(gateway, path, "", "evil.example:8080"), StartsWith("HTTP/1.1 200 ")) << path;
  }
  TestGateway listed(loop_, config("hosts = [\"gateway.internal\"]\n"));
  EXPECT_THAT(get(listed, "/v1/models", "", "gateway.internal"), StartsWith("HTTP/1.1 200 "));
  TestGateway keyed(loop_, config("[[key]]\nname = \"k\"\nsecret = \"sk-right\"\n"));
  EXPECT_THAT(get(keyed, "/v1/models", "x-api-key: sk-right\r\n", "gateway.internal"),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(EdgeTest, describes_every_route_in_words) {
  TestGateway gateway(loop_, config());
  const std::string answer = get(gateway, "/openapi.json");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  const auto count = [&](std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = answer.find(part, at)) != answer.npos; ++at) ++found;
    return found;
  };
  EXPECT_GT(count("\"responses\":"), 40U);
  EXPECT_EQ(count("\"summary\":"), count("\"responses\":")) << answer;
  EXPECT_THAT(answer, HasSubstr("\"/v1/loops/{id}\":{\"post\":{\"tags\":[\"Tool loop\"]"));
}

TEST_F(EdgeTest, json_sent_as_a_form_is_not_read) {
  TestGateway gateway(loop_, config());
  const auto post = [&](std::string_view lines) {
    return send_raw(gateway,
                    "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: "
                    "close\r\ncontent-length: " +
                        std::to_string(kEdgeQuestion.size()) + "\r\n" + std::string(lines) +
                        "\r\n" + std::string(kEdgeQuestion));
  };
  EXPECT_THAT(post("content-type: text/plain\r\n"),
              AllOf(StartsWith("HTTP/1.1 415 "), HasSubstr("expected application/json")));
  EXPECT_THAT(post("sec-fetch-site: same-site\r\n"), StartsWith("HTTP/1.1 415 "));
  EXPECT_TRUE(model_.asked().empty());
  for (const std::string_view lines : {"", "content-type: application/x-www-form-urlencoded\r\n",
                                       "content-type: application/json; charset=utf-8\r\n"}) {
    model_.then({.pieces = {std::string(kEdgeAnswer)}});
    EXPECT_THAT(post(lines), StartsWith("HTTP/1.1 200 ")) << lines;
  }
}

TEST_F(EdgeTest, a_name_of_a_megabyte_gets_a_short_answer_at_once) {
  std::string many = config();
  for (int i = 0; i < 60; ++i) {
    many += "[[model]]\nname = \"model-" + std::to_string(i) + "\"\nupstream = [\"a\"]\n";
  }
  TestGateway gateway(loop_, many);
  const std::string name(8'000'000, 'a');
  const TestAnswer model =
      gateway.ask(R"({"model":")" + name + R"(","messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(model.status, 404);
  EXPECT_LT(model.body.size(), 1000u);
  const TestAnswer option =
      gateway.ask(R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"callgate":{")" +
                  name + R"(":1}})");
  EXPECT_EQ(option.status, 400);
  EXPECT_LT(option.body.size(), 1000u);
  const TestAnswer role =
      gateway.ask(R"({"model":"m","messages":[{"role":")" + name + R"(","content":"Hi"}]})");
  EXPECT_EQ(role.status, 400);
  EXPECT_LT(role.body.size(), 10'000u);
}

TEST_F(EdgeTest, models_that_a_key_may_not_use_are_never_named) {
  TestGateway gateway(loop_,
                      config("[[key]]\nname = \"k\"\nsecret = \"sk-right\"\nmodels = [\"m\"]\n"));
  const HeaderPairs key{{"x-api-key", "sk-right"}};
  const auto ask = [&](std::string_view model) {
    return gateway.ask(
        R"({"model":")" + std::string(model) + R"(","messages":[{"role":"user","content":"Hi"}]})",
        key);
  };
  const TestAnswer typo = ask("payrol-model");
  EXPECT_THAT(typo.body, Not(HasSubstr("payroll")));
  EXPECT_THAT(get(gateway, "/v1/models", "x-api-key: sk-right\r\n"), Not(HasSubstr("payroll")));
  // Whether it exists makes no difference.
  const TestAnswer denied = ask("payroll-model");
  const TestAnswer unknown = ask("payroll-xxxxx");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(unknown.status, denied.status);
  EXPECT_EQ(denied.body.size(), unknown.body.size());
}

TEST_F(EdgeTest, slow_bodies_hold_no_place_of_a_turn) {
  TestGateway gateway(loop_, config());
  gateway.world().streams.set_limit(1);
  std::vector<net::RawSocket> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(net::RawSocket::connect(gateway.target().port));
    ASSERT_TRUE(slow.back().send(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"));
  }
  model_.then({.pieces = {std::string(kEdgeAnswer)}});
  EXPECT_EQ(gateway.ask(kEdgeQuestion).status, 200);
}

TEST_F(EdgeTest, so_many_bodies_are_read_at_a_time) {
  TestGateway gateway(loop_, config());
  gateway.world().bodies.set_limit(1);
  constexpr std::string_view kHalf =
      "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
      "content-length: 100\r\n\r\n{";
  net::RawSocket slow = net::RawSocket::connect(gateway.target().port);
  ASSERT_TRUE(slow.send(kHalf));
  while (gateway.world().bodies.running() == 0) {
    gateway.run([](net::Loop& loop) -> net::Task<> { co_await loop.sleep(net::Millis(1)); }(loop_));
  }
  EXPECT_THAT(send_raw(gateway, kHalf),
              AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("retry-after: 1")));
  model_.then({.pieces = {std::string(kEdgeAnswer)}});
  EXPECT_EQ(gateway.ask(kEdgeQuestion).status, 200) << "it comes whole and waits for nothing";
}

TEST_F(EdgeTest, wrong_keys_of_an_address_are_slowed_down) {
  TestGateway gateway(loop_, config("[[key]]\nname = \"k\"\nsecret = \"sk-right\"\n"
                                    "[[key]]\nname = \"l\"\nsecret = \"sk-other\"\n"));
  gateway.world().wrong_keys.set_limit(3);
  const auto status = [&](std::string_view key) {
    return gateway.ask("{}", {{"authorization", "Bearer " + std::string(key)}}).status;
  };
  EXPECT_EQ(status("sk-right"), 400);
  EXPECT_EQ(gateway.ask("{}").status, 401) << "no key is no guess";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status("sk-guess" + std::to_string(i)), 401);
  const TestAnswer throttled = gateway.ask("{}", {{"authorization", "Bearer sk-guess"}});
  EXPECT_EQ(throttled.status, 429);
  EXPECT_NE(throttled.header("retry-after"), "");
  EXPECT_EQ(status("sk-right"), 400) << "it was used from this address before";
  EXPECT_EQ(status("sk-other"), 429) << "a guess that is right is not told from a wrong one";
}

TEST_F(EdgeTest, metrics_are_for_whom_the_configuration_says) {
  const std::string keys =
      "[[key]]\nname = \"k\"\nsecret = \"sk-right\"\n"
      "[[key]]\nname = \"root\"\nsecret = \"sk-admin\"\nadmin = true\n";
  const auto status = [&](const std::string& readers, std::string_view key) {
    TestGateway gateway(loop_, config(readers + keys));
    const std::string lines = key.empty() ? "" : "x-api-key: " + std::string(key) + "\r\n";
    return get(gateway, "/metrics", lines).substr(9, 3);
  };
  EXPECT_EQ(status("", ""), "200");
  EXPECT_EQ(status("metrics = \"key\"\n", ""), "401");
  EXPECT_EQ(status("metrics = \"key\"\n", "sk-right"), "200");
  EXPECT_EQ(status("metrics = \"admin\"\n", "sk-right"), "403");
  EXPECT_EQ(status("metrics = \"admin\"\n", "sk-admin"), "200");
}

}  // namespace
}  // namespace callgate::server::edge_test
