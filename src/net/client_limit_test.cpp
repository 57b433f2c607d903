// A client with a limit of connections.
#include <gtest/gtest.h>

#include "net/client.h"
#include "net/net_testing.h"
#include "net/server.h"

namespace callgate::net::client_limit_test {
namespace {

class ClientLimitTest : public testing::Test {
 protected:
  ClientLimitTest()
      : server_(loop_, {}, [this](Exchange& exchange) { return answer(exchange); }),
        client_(loop_, {.most_connections = 2}) {
    target_ = {.host = "127.0.0.1", .port = server_.listen({.host = "127.0.0.1"})->port};
  }

  Task<> answer(Exchange& exchange) {
    most_ = std::max(most_, ++open_);
    co_await loop_.sleep(Millis(20));
    --open_;
    const Headers none;
    (void)co_await exchange.respond(200, none, "ok");
  }
  Task<> ask(Millis patience) {
    ++running_;
    ClientExchange exchange(client_, target_, {.connect = patience});
    const ClientRequest request{.method = "GET", .path = "/x"};
    const auto sent = co_await exchange.send(request);
    if (sent) {
      const auto body = co_await exchange.read_all(100);
      answered_ += body && *body == "ok";
    } else {
      timed_out_ += sent.error().code == ErrorCode::timed_out;
    }
    --running_;
  }
  Task<> ask_all(int count, Millis patience) {
    for (int i = 0; i < count; ++i) loop_.spawn(ask(patience));
    while (running_ > 0) co_await loop_.sleep(Millis(1));
  }

  Loop loop_;
  HttpServer server_;
  HttpClient client_;
  Target target_;
  int open_ = 0;
  int most_ = 0;
  int running_ = 0;
  int answered_ = 0;
  int timed_out_ = 0;
};

TEST_F(ClientLimitTest, lets_requests_wait_for_a_connection) {
  run_to_end(loop_, ask_all(9, Millis(30'000)));
  EXPECT_EQ(answered_, 9);
  EXPECT_EQ(most_, 2);
  EXPECT_LE(client_.idle(), 2u);
}

TEST_F(ClientLimitTest, does_not_let_them_wait_for_ever) {
  run_to_end(loop_, ask_all(6, Millis(1)));
  EXPECT_GE(timed_out_, 1);
  EXPECT_EQ(answered_ + timed_out_, 6);
  EXPECT_LE(most_, 2);
}

TEST_F(ClientLimitTest, passes_room_on_that_a_request_leaves_unused) {
  const auto run = [&]() -> Task<> {
    loop_.spawn(ask(Millis(30'000)));
    loop_.spawn(ask(Millis(30'000)));
    auto left = std::make_unique<ClientExchange>(client_, target_, Timeouts{});
    const auto leave = [](ClientExchange& exchange) -> Task<> {
      const ClientRequest request{.method = "GET", .path = "/x"};
      const auto sent = co_await exchange.send(request);
      EXPECT_FALSE(sent);
    };
    loop_.spawn(leave(*left));
    loop_.spawn(ask(Millis(30'000)));
    co_await loop_.sleep(Millis(1));
    left->cancel();
    while (running_ > 0) co_await loop_.sleep(Millis(1));
  };
  run_to_end(loop_, run());
  EXPECT_EQ(answered_, 3);
}

}  // namespace
}  // namespace callgate::net::client_limit_test
