// HttpServer with many clients, greedy ones, those that go half-way, and too few descriptors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/un.h>

#include <mutex>

#include "net/client.h"
#include "net/net_testing.h"
#include "net/owned_fd.h"
#include "net/server.h"

namespace callgate::net::server_crowd_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

Task<> answer_fine(Exchange& exchange) {
  (void)co_await exchange.respond(200, "text/plain", "fine");
}

// The soft limit of open files, restored when it goes.
class FileLimit {
 public:
  FileLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  rlim_t most() const { return before_.rlim_max; }
  void set(rlim_t soft) const {
    const rlimit now{.rlim_cur = soft, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  void restore() const { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

std::size_t lowest_free_fd() {
  const OwnedFd probe(::dup(0));
  return static_cast<std::size_t>(probe.get());
}

// No other connection comes that would wake the listener again.
TEST(HttpServer, accepts_who_waits_once_there_are_descriptors_again) {
  std::mutex mutex;
  std::vector<std::string> said;
  ServerThread server(answer_fine, {.log = [&](std::string_view what) {
                        const std::lock_guard lock(mutex);
                        said.emplace_back(what);
                      }});
  const FileLimit limit;
  RawSocket early = RawSocket::connect(server.port());
  early.send(kRequest);
  EXPECT_THAT(early.receive_until("fine"), HasSubstr("fine"));
  RawSocket late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  limit.set(lowest_free_fd());
  ASSERT_EQ(::connect(late.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  late.send(kRequest);
  const bool noticed = server.eventually([&](HttpServer&) {
    const std::lock_guard lock(mutex);
    return said.size() >= 2;
  });
  early.send(kRequest);
  EXPECT_THAT(early.receive_until("fine"), HasSubstr("fine")) << "others are served meanwhile";
  limit.restore();
  EXPECT_TRUE(noticed) << "it tries again and again";
  EXPECT_THAT(said, Contains(HasSubstr("accept: Too many open files")));
  EXPECT_THAT(late.receive_until("fine"), HasSubstr("fine"));
}

TEST(HttpServer, holds_ten_thousand_idle_connections) {
  const FileLimit limit;
  limit.set(limit.most());
  const std::size_t fit = (limit.most() - std::min<std::size_t>(limit.most(), 200)) / 2;
  const std::size_t count = std::min<std::size_t>(10'000, fit);
  const std::string path = testing::TempDir() + "callgate_crowd_" + std::to_string(::getpid());
  ServerThread server(answer_fine, {}, nullptr, {.unix_path = path});
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  std::vector<RawSocket> clients;
  clients.reserve(count);
  const std::size_t before = ::mallinfo2().uordblks;
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(
        ::connect(clients.back().fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ASSERT_TRUE(server.eventually([&](HttpServer& on) { return on.connections() == count; }));
  const std::size_t each = (::mallinfo2().uordblks - before) / count;
  RecordProperty("bytes_per_connection", std::to_string(each));
  EXPECT_LT(each, 2'500u);
  for (std::size_t i = 0; i < count; i += 97) {
    clients[i].send(kRequest);
    EXPECT_THAT(clients[i].receive_until("fine"), HasSubstr("fine"));
  }
  EXPECT_EQ(server.on_loop([](HttpServer& on) { return on.connections(); }), count);
  clients.clear();
  EXPECT_TRUE(server.eventually([](HttpServer& on) { return on.connections() == 0; }));
}

TEST(HttpServer, speaks_over_ipv6) {
  const OwnedFd probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_loopback;
  if (::bind(probe.get(), reinterpret_cast<sockaddr*>(&any), sizeof(any)) != 0) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  ServerThread server(
      [](Exchange& exchange) -> Task<> {
        const std::string peer(exchange.peer_host());
        (void)co_await exchange.respond(200, "text/plain", peer);
      },
      {}, nullptr, {.host = "::1"});
  Loop loop;
  HttpClient client(loop, {});
  std::vector<std::string> bodies;
  run_to_end(loop, [](HttpClient& c, Target target, std::vector<std::string>& out) -> Task<> {
    for (int i = 0; i < 2; ++i) {
      ClientExchange exchange(c, target);
      ClientRequest request{.method = "GET", .path = "/"};
      const auto sent = co_await exchange.send(request);
      EXPECT_TRUE(sent) << sent.error().message;
      auto body = co_await exchange.read_all(100);
      if (body) out.push_back(std::move(*body));
      EXPECT_EQ(exchange.reused(), i == 1);
    }
  }(client, {.host = "::1", .port = server.port()}, bodies));
  EXPECT_THAT(bodies, testing::ElementsAre("::1", "::1"));
}

// The peer's bytes never end, so its socket never becomes unreadable.
TEST(HttpServer, serves_others_while_a_client_sends_without_end) {
  std::atomic<std::size_t> taken = 0;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    if (exchange.head().path != "/greedy") {
      (void)co_await exchange.respond(200, "text/plain", "fine");
      co_return;
    }
    const Headers none;
    (void)co_await exchange.upgrade(none);
    while (true) {
      const auto bytes = co_await exchange.read(Millis(10'000));
      if (!bytes || !*bytes || (*bytes)->empty()) break;
      taken += (*bytes)->size();
    }
  });
  RawSocket greedy = RawSocket::connect(server.port());
  greedy.send("GET /greedy HTTP/1.1\r\nhost: x\r\n\r\n");
  greedy.receive_until("\r\n\r\n");
  std::atomic<bool> enough = false;
  std::thread sender([&] {
    const std::string much(256 * 1024, 'x');
    while (!enough && greedy.send(much)) {
    }
    greedy.shut_down_writing();
  });
  RawSocket modest = RawSocket::connect(server.port());
  std::size_t answered = 0;
  for (int i = 0; i < 50; ++i) {
    const std::size_t before = taken;
    for (int tries = 0; tries < 10'000 && taken == before; ++tries) ::usleep(1000);
    EXPECT_GT(taken, before) << "nor is the greedy one left alone";
    modest.send(kRequest);
    if (modest.receive_until("fine").find("fine") != std::string::npos) ++answered;
  }
  enough = true;
  sender.join();
  EXPECT_EQ(answered, 50u);
}

// Request and end arrive as one edge, or nearly so.
TEST(HttpServer, notices_a_client_that_closed_its_half_with_the_request) {
  std::promise<void> gone;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    (void)co_await exchange.body();
    Signal signal(exchange.loop());
    exchange.on_client_gone([&] { signal.notify(); });
    if (co_await signal.wait(Millis(10'000))) gone.set_value();
  });
  RawSocket client = RawSocket::connect(server.port());
  server.on_loop([&](HttpServer&) {
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi");
    client.shut_down_writing();
  });
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(HttpClient, does_not_keep_a_connection_whose_end_came_with_the_answer) {
  RawUpstream upstream({[](RawSocket& socket) {
                          socket.receive_until("\r\n\r\n");
                          socket.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst");
                        },
                        [](RawSocket& socket) {
                          socket.receive_until("\r\n\r\n");
                          socket.send("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond");
                        }});
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, Loop& on, Target target) -> Task<> {
    for (const std::string_view expected : {"first", "second"}) {
      ClientExchange exchange(c, target);
      ClientRequest request{.method = "GET", .path = "/"};
      EXPECT_TRUE(co_await exchange.send(request));
      const auto body = co_await exchange.read_all(100);
      EXPECT_EQ(body.value_or(""), expected);
      for (int i = 0; i < 5000 && c.idle() > 0; ++i) co_await on.sleep(Millis(1));
      EXPECT_EQ(c.idle(), 0u);
      EXPECT_FALSE(exchange.reused());
    }
  }(client, loop, upstream.target()));
}

}  // namespace
}  // namespace callgate::net::server_crowd_test
