// Lists of models that are fetched, and upstreams that are asked how they are.
#include "gateway/upstream_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_client_testing.h"

namespace callgate::server::upstream_watch_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class UpstreamWatchTest : public testing::Test {
 protected:
  std::string config(std::string_view upstream, std::string_view url) const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + std::string(url) + "\"\n" +
           std::string(upstream) + "[[model]]\nname = \"own\"\nupstream = \"a\"\n";
  }
  static FakeServer::Reply json(int status, std::string body) {
    return {.status = status,
            .headers = {{"content-type", "application/json"}},
            .pieces = {std::move(body)}};
  }
  static void watch(TestGateway& gateway, const std::string& toml) {
    gateway.gateway().watch_upstreams();
    gateway.apply(TestGateway::parse(toml));
  }
  // Until what is fetched from `path` says so.
  static testing::AssertionResult comes_to_say(TestGateway& gateway, std::string_view path,
                                               std::string_view words) {
    std::string body;
    for (int i = 0; i < 1'000; ++i) {
      body = fetch(gateway, "GET", path).body;
      if (body.find(words) != std::string::npos) return testing::AssertionSuccess();
      gateway.run([](net::Loop& loop) -> net::Task<> {
        co_await loop.sleep(net::Millis(10));
      }(gateway.loop()));
    }
    return testing::AssertionFailure() << path << " says " << body;
  }
  void wait_for_questions(TestGateway& gateway, const FakeServer& server, std::size_t count) {
    gateway.run([](net::Loop& loop, const FakeServer& asked, std::size_t wanted) -> net::Task<> {
      for (int i = 0; i < 2'000 && asked.asked().size() < wanted; ++i) {
        co_await loop.sleep(net::Millis(5));
      }
    }(loop_, server, count));
    EXPECT_GE(server.asked().size(), count);
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(UpstreamWatchTest, serves_what_an_upstream_lists_and_keeps_it_while_it_is_down) {
  const std::string toml =
      config("models = [\"big-*\"]\nmodels_refresh = \"100ms\"\n", server_.url());
  TestGateway gateway(loop_, toml);
  server_.then(json(200, R"({"data":[{"id":"big-1"},{"id":"small-1"}]})"));
  for (int i = 0; i < 3; ++i) server_.then(json(500, R"({"data":[{"id":"big-2"}]})"));
  server_.then(json(200, "nonsense"));
  watch(gateway, toml);
  EXPECT_TRUE(comes_to_say(gateway, "/v1/models", "\"big-1\""));
  wait_for_questions(gateway, server_, 6);
  const std::string models = fetch(gateway, "GET", "/v1/models").body;
  EXPECT_THAT(models, HasSubstr("\"big-1\""));
  EXPECT_THAT(models, Not(HasSubstr("\"big-2\""))) << "it was part of an error";
  EXPECT_THAT(models, Not(HasSubstr("small-1"))) << "no pattern wants it";
  EXPECT_EQ(server_.asked()[0].method, "GET");
  EXPECT_EQ(server_.asked()[0].path, "/models");
}

TEST_F(UpstreamWatchTest, forgets_the_models_of_a_server_that_was_replaced) {
  const std::string toml = config("models = [\"*\"]\n", server_.url());
  TestGateway gateway(loop_, toml);
  server_.then(json(200, R"({"data":[{"id":"big-1"}]})"));
  watch(gateway, toml);
  EXPECT_TRUE(comes_to_say(gateway, "/v1/models", "\"big-1\""));
  FakeServer other(loop_);
  other.then(json(200, R"({"data":[{"id":"big-9"}]})"));
  gateway.apply(TestGateway::parse(config("models = [\"*\"]\n", other.url())));
  EXPECT_TRUE(comes_to_say(gateway, "/v1/models", "\"big-9\""));
  EXPECT_THAT(fetch(gateway, "GET", "/v1/models").body, Not(HasSubstr("\"big-1\"")));
}

TEST_F(UpstreamWatchTest, says_what_a_check_found) {
  const std::string toml =
      config("check = \"/health\"\ncheck_interval = \"100ms\"\n", server_.url());
  TestGateway gateway(loop_, toml);
  for (int i = 0; i < 20; ++i) server_.then(json(i % 2 == 0 ? 503 : 404, "{}"));
  for (int i = 0; i < 200; ++i) server_.then(json(204, ""));
  watch(gateway, toml);
  EXPECT_TRUE(comes_to_say(gateway, "/v1/upstreams", "/health answered "));
  EXPECT_EQ(server_.asked()[0].path, "/health");
  EXPECT_EQ(server_.asked()[0].method, "GET");
}

// Upstreams that are not reached are named, and what an upstream says at length is cut.
TEST_F(UpstreamWatchTest, names_the_upstream_in_errors) {
  TestGateway gone(loop_, config("", "http://127.0.0.1:1") + "retries = 0\n");
  const std::string ask = R"({"model":"own","messages":[{"role":"user","content":"hi"}]})";
  EXPECT_THAT(gone.ask(ask).body, HasSubstr("upstream \\\"a\\\": "));
  TestGateway gateway(loop_, config("", server_.url()) + "retries = 0\n");
  const std::string long_text(100'000, 'x');
  server_.then({.status = 400,
                .headers = {{"content-type", "application/json"}},
                .pieces = {R"({"error":{"message":"no)", long_text, R"("}})"}});
  const TestAnswer refused = gateway.ask(ask);
  EXPECT_EQ(refused.status, 400);
  EXPECT_LT(refused.body.size(), 10'000u);
  ASSERT_EQ(gateway.log().rows().size(), 1u);
  EXPECT_EQ(gateway.log().rows()[0].outcome.http_status, 400);
}

// Two upstreams, so that the rows of the list are separate.
TEST_F(UpstreamWatchTest, lists_upstreams_with_their_state) {
  TestGateway gateway(loop_, config("", server_.url()) +
                                 "[[upstream]]\nname = \"b\"\nurl = \"http://127.0.0.1:1\"\n");
  const TestAnswer answer = fetch(gateway, "GET", "/v1/upstreams");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"(},{"name":"b")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("name":"a")"));
}

}  // namespace
}  // namespace callgate::server::upstream_watch_test
