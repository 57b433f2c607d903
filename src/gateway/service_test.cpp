// A whole service in this process: its loops, its listeners, reloads and drains.
#include "gateway/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>

#include "net/client.h"
#include "net/net_testing.h"
#include "net/tls_testing.h"
#include "tool/host.h"

namespace callgate::server::service_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ServiceTest : public testing::Test {
 protected:
  ServiceTest() {
    options_.source.file = file("callgate.toml");
    write("script", "text \"Hello\"\n");
  }
  ~ServiceTest() override {
    service_.reset();
    for (const std::string& path : files_) std::remove(path.c_str());
  }

  std::string file(const std::string& name) const {
    return testing::TempDir() + "service_" + std::to_string(::getpid()) + "_" + name;
  }
  void write(const std::string& name, std::string_view text) {
    std::ofstream(file(name)) << text;
    files_.insert(file(name));
  }
  // A scripted upstream `s` with one model, and whatever else is given.
  void configure(const std::string& model, const std::string& head = "threads = 2\n",
                 const std::string& rest = "") {
    write("callgate.toml", "listen = \"127.0.0.1:0\"\n" + head +
                               "[[upstream]]\nname = \"s\"\nwire = \"script\"\nurl = \"" +
                               file("script") + "\"\n[[model]]\nname = \"" + model +
                               "\"\nupstream = \"s\"\n" + rest);
  }

  void start() {
    auto config = load_serve_config(options_);
    ASSERT_TRUE(config) << config.error().message;
    auto tools = tool::ToolHost::start({}, [](std::string_view) {});
    ASSERT_TRUE(tools);
    tools_ = std::move(*tools);
    service_.emplace(
        options_, *config,
        Surroundings{
            .log = log_, .metrics = metrics_, .requests = requests_, .tools = tools_.get()});
    const auto started = service_->start();
    ASSERT_TRUE(started) << started.error().message;
  }
  // Waits until the log has said it once more.
  bool logged(std::string_view text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      const std::size_t at = lines_.find(text, seen_);
      if (at == std::string::npos) return false;
      seen_ = at + text.size();
      return true;
    });
  }
  std::uint64_t reloads(std::string_view result) {
    return metrics_.config_reloads.with(result).value();
  }

  std::uint16_t port() const { return service_->endpoints().front().port; }
  std::string get(std::string_view path) const {
    net::RawSocket socket = net::RawSocket::connect(port());
    socket.send("GET " + std::string(path) +
                " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return socket.receive_all();
  }
  net::RawSocket ask(const std::string& model) const {
    const std::string body =
        "{\"model\":\"" + model +
        "\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    net::RawSocket socket = net::RawSocket::connect(port());
    socket.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                ("Content-Length: " + std::to_string(body.size())) + "\r\n\r\n" + body);
    return socket;
  }
  // Every loop answers some of these.
  void expect_everywhere(std::string_view text) const {
    for (int i = 0; i < 16; ++i) EXPECT_THAT(get("/v1/models"), HasSubstr(std::string(text)));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string lines_;
  std::size_t seen_ = 0;
  std::set<std::string> files_;
  ServeOptions options_;
  telemetry::Logger log_{{.write = [this](std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_ += line;
    changed_.notify_all();
  }}};
  telemetry::Metrics metrics_;
  store::NullRequestLog requests_;
  std::unique_ptr<tool::ToolHost> tools_;
  std::optional<Service> service_;
};

TEST_F(ServiceTest, a_reload_reaches_every_loop) {
  configure("first");
  start();
  expect_everywhere("first");
  configure("second");
  service_->reload();
  ASSERT_TRUE(logged("configuration reloaded\n"));
  expect_everywhere("second");
  EXPECT_EQ(reloads("ok"), 1u);
}

TEST_F(ServiceTest, a_mistake_in_any_file_changes_nothing) {
  configure("first");
  start();
  configure("second");
  write("script", "nonsense\n");
  service_->reload();
  ASSERT_TRUE(logged("reload failed, nothing changed: "));
  ASSERT_TRUE(logged(file("script")));
  expect_everywhere("first");
  write("callgate.toml", "listen = [");
  service_->reload();
  ASSERT_TRUE(logged("reload failed, nothing changed: "));
  expect_everywhere("first");
  write("script", "text \"Hello\"\n");
  configure("second", "", "[[upstream]]\nname = \"t\"\nurl = \"http://\"\n");
  service_->reload();
  ASSERT_TRUE(logged("reload failed, nothing changed: "));
  ASSERT_TRUE(logged("upstream \"t\""));
  expect_everywhere("first");
  configure("second", "", "[[tool]]\nname = \"t\"\nkind = \"command\"\n");
  service_->reload();
  ASSERT_TRUE(logged("reload failed, nothing changed: "));
  expect_everywhere("first");
  EXPECT_EQ(reloads("failed"), 4u);
  configure("second");
  service_->reload();
  ASSERT_TRUE(logged("configuration reloaded"));
  expect_everywhere("second");
}

TEST_F(ServiceTest, says_over_http_what_came_of_a_reload) {
  configure("a");
  start();
  const auto reload = [this] {
    net::RawSocket socket = net::RawSocket::connect(port());
    socket.send(
        "POST /v1/reload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: "
        "close\r\n\r\n");
    return socket.receive_all();
  };
  configure("b", "threads = 3\n");
  std::string answer = reload();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr(R"({"status":"reloaded","needs_restart":["threads"]})"));
  write("callgate.toml", "nonsense = 1\n");
  answer = reload();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer, HasSubstr("nothing changed: "));
  EXPECT_EQ(reloads("ok"), 1u);
}

TEST_F(ServiceTest, limits_rooms_from_the_first_one_on) {
  configure("m", "[rooms]\nmax_rooms = 0\n");
  start();
  net::RawSocket socket = net::RawSocket::connect(port());
  socket.send(
      "GET /v1/rooms/lobby HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: "
      "websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  EXPECT_THAT(socket.receive_all(), HasSubstr("there are too many rooms"));
}

TEST_F(ServiceTest, names_the_changes_that_need_a_restart) {
  configure("first");
  start();
  configure("first", "threads = 3\n[store]\nurl = \"none\"\n");
  service_->reload();
  EXPECT_TRUE(logged("configuration reloaded; these changes need a restart: threads, store.url\n"));
  configure("first", "threads = 2\n[limits]\nmax_headers = 2\n");
  service_->reload();
  EXPECT_TRUE(logged("configuration reloaded\n"));
  EXPECT_THAT(get("/v1/models"), StartsWith("HTTP/1.1 200 "));
  net::RawSocket socket = net::RawSocket::connect(port());
  socket.send("GET / HTTP/1.1\r\nHost: localhost\r\na: b\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(socket.receive_all(), StartsWith("HTTP/1.1 431 ")) << "limits need none";
}

TEST_F(ServiceTest, keeps_connections_to_upstreams_that_did_not_change) {
  std::mutex mutex;
  std::vector<std::string> peers;
  net::ServerThread upstream([&](net::Exchange& exchange) -> net::Task<> {
    (void)co_await exchange.body();
    {
      const std::lock_guard lock(mutex);
      peers.push_back(exchange.peer());
    }
    (void)co_await exchange.respond(
        200, "text/event-stream",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},"
        "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
  });
  const std::string rest =
      "[[upstream]]\nname = \"h\"\nurl = \"http://127.0.0.1:" + std::to_string(upstream.port()) +
      "/v1\"\n[[model]]\nname = \"http\"\nupstream = \"h\"\n";
  configure("first", "threads = 1\n", rest);
  start();
  EXPECT_THAT(ask("http").receive_all(), HasSubstr("Hi"));
  configure("second", "threads = 1\n", rest);
  service_->reload();
  ASSERT_TRUE(logged("configuration reloaded"));
  EXPECT_THAT(ask("http").receive_all(), HasSubstr("Hi"));
  ASSERT_EQ(peers.size(), 2u);
  EXPECT_EQ(peers[0], peers[1]);
}

TEST_F(ServiceTest, a_request_whose_upstream_a_reload_removed_gets_an_error) {
  std::atomic<bool> asked{false};
  std::atomic<bool> released{false};
  net::ServerThread upstream([&](net::Exchange& exchange) -> net::Task<> {
    (void)co_await exchange.body();
    asked = true;
    while (!released) co_await exchange.loop().sleep(net::Millis(2));
    (void)co_await exchange.respond(503, "text/plain", "later");
  });
  configure(
      "m", "",
      "[[upstream]]\nname = \"h\"\nurl = \"http://127.0.0.1:" + std::to_string(upstream.port()) +
          "/v1\"\n[[model]]\nname = \"gone\"\nupstream = \"h\"\nretries = 1\n"
          "retry_backoff = \"1ms\"\n");
  start();
  net::RawSocket request = ask("gone");
  ASSERT_TRUE(upstream.eventually([&](net::HttpServer&) { return asked.load(); }));
  configure("m", "");
  service_->reload();
  ASSERT_TRUE(logged("configuration reloaded\n"));
  released = true;
  EXPECT_THAT(request.receive_all(), HasSubstr("is not configured any more"));
}

class SecureServiceTest : public ServiceTest {
 protected:
  std::string call(const std::string& ca_file) const {
    net::Loop loop;
    net::HttpClient client(loop, {.ca_file = ca_file});
    const net::Target target{.tls = true, .host = "localhost", .port = port()};
    std::string result;
    net::run_to_end(
        loop, [](net::HttpClient& from, const net::Target& to, std::string& out) -> net::Task<> {
          net::ClientExchange exchange(from, to);
          net::ClientRequest request{.method = "GET", .path = "/v1/models"};
          const auto sent = co_await exchange.send(request);
          out = sent ? std::to_string(exchange.status()) : sent.error().message;
        }(client, target, result));
    return result;
  }
  static std::string table(const net::TlsFiles& files) {
    return "[tls]\ncert = \"" + files.certificate + "\"\nkey = \"" + files.key + "\"\n";
  }
};

TEST_F(SecureServiceTest, a_reload_brings_a_new_certificate_and_refuses_a_broken_one) {
  net::Authority first("first");
  net::Authority second("second");
  const net::TlsFiles old_files = first.issue("service", "DNS:localhost");
  const net::TlsFiles new_files = second.issue("service", "DNS:localhost");
  configure("m", table(old_files));
  start();
  EXPECT_EQ(call(first.ca_file()), "200");
  configure("m", table(new_files));
  service_->reload();
  ASSERT_TRUE(logged("configuration reloaded\n"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(call(second.ca_file()), "200");
  EXPECT_THAT(call(first.ca_file()), HasSubstr("certificate"));
  write("broken.pem", "nothing");
  configure("other", table({file("broken.pem"), new_files.key}));
  service_->reload();
  ASSERT_TRUE(logged("reload failed, nothing changed: certificate " + file("broken.pem")));
  EXPECT_EQ(call(second.ca_file()), "200");
}

// The answer to model `held` goes on until it is released.
class DrainTest : public ServiceTest {
 protected:
  void start_held(const std::string& limits = "") {
    configure(
        "m", limits,
        "[[upstream]]\nname = \"h\"\nurl = \"http://127.0.0.1:" + std::to_string(upstream_.port()) +
            "/v1\"\n[[model]]\nname = \"held\"\nupstream = \"h\"\n");
    start();
  }

  std::atomic<bool> released_{false};
  net::ServerThread upstream_{[this](net::Exchange& exchange) -> net::Task<> {
    (void)co_await exchange.body();
    net::Headers headers{{"content-type", "text/event-stream"}};
    exchange.start(200, headers);
    (void)co_await exchange.write(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n");
    while (!released_) co_await exchange.loop().sleep(net::Millis(2));
    (void)co_await exchange.end(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" ended\"},"
        "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
  }};
};

TEST_F(DrainTest, ends_when_streams_have_ended) {
  start_held();
  net::RawSocket stream = ask("held");
  EXPECT_THAT(stream.receive_until("begun"), StartsWith("HTTP/1.1 200 "));
  service_->drain();
  ASSERT_TRUE(logged("draining"));
  EXPECT_THAT(get("/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(ask("m").receive_all(), HasSubstr("the gateway is shutting down"));
  released_ = true;
  EXPECT_THAT(stream.receive_all(), HasSubstr(" ended"));
  service_->join();
}

TEST_F(DrainTest, limits_the_streams_from_the_first_request_on) {
  start_held("[limits]\nmax_streams = 1\n");
  net::RawSocket stream = ask("held");
  EXPECT_THAT(stream.receive_until("begun"), StartsWith("HTTP/1.1 200 "));
  const std::string refused = ask("m").receive_all();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(refused, HasSubstr("the gateway has too many requests running"));
  released_ = true;
  EXPECT_THAT(stream.receive_all(), HasSubstr(" ended"));
}

TEST_F(DrainTest, cuts_streams_at_the_deadline) {
  start_held("[limits]\ndrain_timeout = \"20ms\"\n");
  net::RawSocket stream = ask("held");
  EXPECT_THAT(stream.receive_until("begun"), StartsWith("HTTP/1.1 200 "));
  service_->drain();
  EXPECT_TRUE(logged("drain deadline reached, cutting 1 streams"));
  service_->join();
}

TEST_F(DrainTest, ends_at_once_the_second_time) {
  start_held("[limits]\ndrain_timeout = \"1h\"\n");
  net::RawSocket stream = ask("held");
  EXPECT_THAT(stream.receive_until("begun"), StartsWith("HTTP/1.1 200 "));
  service_->drain();
  ASSERT_TRUE(logged("draining"));
  service_->drain();
  EXPECT_TRUE(logged("second signal"));
  service_->join();
}

TEST_F(DrainTest, a_reload_does_not_keep_a_service_from_ending) {
  start_held();
  for (int i = 0; i < 3; ++i) service_->reload();
  service_->drain();
  service_->join();
  service_.reset();
}

}  // namespace
}  // namespace callgate::server::service_test
