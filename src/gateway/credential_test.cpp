// Upstreams whose key a program prints or a file holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gateway/gateway_testing.h"

namespace callgate::server::credential_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kQuestion =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

// A model server that takes one key only.
class Guarded {
 public:
  explicit Guarded(net::Loop& loop)
      : server_(loop, {}, [this](net::Exchange& exchange) { return answer(exchange); }) {
    const auto bound = server_.listen({.host = "127.0.0.1"});
    if (!bound) throw std::runtime_error(bound.error().message);
    url_ = "http://127.0.0.1:" + std::to_string(bound->port);
  }
  const std::string& url() const { return url_; }
  std::string takes;  // as the header says it; empty: any
  std::vector<std::string> keys;
  std::vector<std::string> cookies;

 private:
  net::Task<> answer(net::Exchange& exchange) {
    (void)co_await exchange.body();
    keys.emplace_back(exchange.head().headers.find("authorization").value_or("none"));
    cookies.emplace_back(exchange.head().headers.find("cookie").value_or("none"));
    net::Headers headers;
    const bool good = takes.empty() || keys.back() == takes;
    headers.add("content-type", good ? "text/event-stream" : "application/json");
    exchange.start(good ? 200 : 401, headers);
    (void)co_await exchange.write(
        good ? "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},"
               "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
             : "{\"error\":{\"message\":\"wrong key\"}}");
    (void)co_await exchange.end();
  }

  net::HttpServer server_;
  std::string url_;
};

class CredentialTest : public testing::Test {
 protected:
  CredentialTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("credential-" + std::to_string(::getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  ~CredentialTest() override { std::filesystem::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  void write(std::string_view name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  // A program that notes each of its runs and prints what the file `reply` holds.
  std::string command() const {
    return "key_command = [\"sh\", \"-c\", \"echo run >> " + path("runs") + "; cat " +
           path("reply") + "\"]\n";
  }
  std::size_t runs() const {
    std::ifstream in(path("runs"));
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n'));
  }
  std::string config(const std::string& key) const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() + "\"\n" + key +
           "[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretries = 0\n";
  }

  std::filesystem::path folder_;
  net::Loop loop_;
  Guarded server_{loop_};
};

TEST_F(CredentialTest, sends_the_key_that_a_program_prints_and_runs_it_once) {
  write("reply", "sk-1\n");
  TestGateway gateway(loop_, config(command()));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(gateway.ask(kQuestion).body, HasSubstr("Hello."));
  EXPECT_THAT(server_.keys, ElementsAre("Bearer sk-1", "Bearer sk-1", "Bearer sk-1"));
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CredentialTest, runs_the_program_once_for_all_requests_that_wait) {
  write("reply", R"({"access_token": "sk-1", "expires_in": 3600})");
  TestGateway gateway(loop_, config(command()));
  int answered = 0;
  net::Signal done(loop_);
  const auto ask = [&](TestGateway& to) -> net::Task<> {
    net::ClientExchange exchange(to.client(), to.target());
    const net::ClientRequest request = TestGateway::request(kQuestion);
    const auto sent = co_await exchange.send(request);
    answered += sent && exchange.status() == 200 ? 1 : 0;
    (void)co_await exchange.read_all(1 << 20);
    done.notify();
  };
  const auto ask_all = [&]() -> net::Task<> {
    for (int i = 0; i < 20; ++i) loop_.spawn(ask(gateway));
    while (answered < 20) {
      const bool heard = co_await done.wait(net::Millis(10'000));
      if (!heard) co_return;
    }
  };
  gateway.run(ask_all());
  EXPECT_EQ(answered, 20);
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CredentialTest, gets_another_key_when_the_upstream_refuses_it_but_once) {
  write("reply", "sk-1");
  TestGateway gateway(loop_, config(command()));
  (void)gateway.ask(kQuestion);
  server_.takes = "Bearer sk-2";
  write("reply", "sk-2");
  EXPECT_THAT(gateway.ask(kQuestion).body, HasSubstr("Hello."));
  EXPECT_THAT(server_.keys, ElementsAre("Bearer sk-1", "Bearer sk-1", "Bearer sk-2"));
  EXPECT_EQ(runs(), 2u);
  // The program has no better one: the upstream is not asked again.
  server_.takes = "Bearer sk-3";
  EXPECT_NE(gateway.ask(kQuestion).status, 200);
  EXPECT_EQ(server_.keys.size(), 4u);
  EXPECT_EQ(runs(), 3u);
}

TEST_F(CredentialTest, renews_a_key_that_expires) {
  write("reply", R"({"token": "sk-1", "expires_in": 0})");
  TestGateway gateway(loop_, config(command()));
  (void)gateway.ask(kQuestion);
  (void)gateway.ask(kQuestion);
  EXPECT_EQ(runs(), 2u);
  // It is used while another is fetched.
  write("reply", R"({"token": "sk-2", "expires_in": 30})");
  (void)gateway.ask(kQuestion);
  const std::size_t before = runs();
  (void)gateway.ask(kQuestion);
  EXPECT_EQ(server_.keys.back(), "Bearer sk-2");
  for (int i = 0; i < 5'000 && runs() == before; ++i) {
    gateway.run([](net::Loop& loop) -> net::Task<> { co_await loop.sleep(net::Millis(2)); }(loop_));
  }
  EXPECT_GT(runs(), before);
}

TEST_F(CredentialTest, says_how_a_program_failed_and_never_what_it_printed) {
  TestGateway gateway(loop_,
                      config("key_command = [\"sh\", \"-c\", \"echo sk-secret; echo sk-secret "
                             ">&2; exit 3\"]\n"));
  const TestAnswer answer = gateway.ask(kQuestion);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, AllOf(HasSubstr("key_command: it ended with exit status 3"),
                                 Not(HasSubstr("sk-secret"))));
  EXPECT_TRUE(server_.keys.empty());
}

TEST_F(CredentialTest, gives_a_program_up_that_takes_too_long_or_prints_too_much) {
  TestGateway slow(loop_,
                   config("key_command = [\"sleep\", \"60\"]\nkey_command_timeout = \"50ms\"\n"));
  EXPECT_THAT(slow.ask(kQuestion).body, HasSubstr("takes longer than 50 ms"));
  TestGateway loud(loop_, config("key_command = [\"yes\"]\n"));
  EXPECT_THAT(loud.ask(kQuestion).body, HasSubstr("more than 64 KiB"));
}

TEST_F(CredentialTest, reads_a_file_again_when_it_changes) {
  write("key", "sk-1\n");
  TestGateway gateway(loop_, config("key_file = \"" + path("key") + "\"\n"));
  (void)gateway.ask(kQuestion);
  write("key", R"({"token": "sk-22"})");
  (void)gateway.ask(kQuestion);
  std::filesystem::remove(path("key"));
  const TestAnswer without = gateway.ask(kQuestion);
  EXPECT_EQ(without.status, 503);
  EXPECT_THAT(without.body, HasSubstr("`callgate login a` writes it"));
  EXPECT_THAT(server_.keys, ElementsAre("Bearer sk-1", "Bearer sk-22"));
}

TEST_F(CredentialTest, sends_the_headers_of_a_credential_before_those_of_the_configuration) {
  write("key", R"({"token": "sk-1", "headers": {"Cookie": "a=1; b=2"}})");
  TestGateway gateway(
      loop_, config("key_file = \"" + path("key") + "\"\nheaders = { cookie = \"old\" }\n"));
  EXPECT_THAT(gateway.ask(kQuestion).body, HasSubstr("Hello."));
  write("key", R"({"headers": {"cookie": "guest=1"}})");
  EXPECT_THAT(gateway.ask(kQuestion).body, HasSubstr("Hello."));
  EXPECT_THAT(server_.cookies, ElementsAre("a=1; b=2", "guest=1"));
  EXPECT_THAT(server_.keys, ElementsAre("Bearer sk-1", "none"));
}

TEST_F(CredentialTest, names_the_command_that_logs_in_when_the_upstream_refuses_a_credential) {
  write("key", "sk-old");
  TestGateway gateway(loop_, config("key_file = \"" + path("key") + "\"\n"));
  server_.takes = "Bearer sk-new";
  const TestAnswer refused = gateway.ask(kQuestion);
  EXPECT_NE(refused.status, 200);
  EXPECT_THAT(refused.body,
              AllOf(HasSubstr("`callgate login a` logs in"), Not(HasSubstr("sk-old"))));
  TestGateway configured(loop_, config("key = \"sk-old\"\n"));
  EXPECT_THAT(configured.ask(kQuestion).body, Not(HasSubstr("callgate login")));
}

}  // namespace
}  // namespace callgate::server::credential_test
