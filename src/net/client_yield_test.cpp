// A fast upstream does not keep the event loop for itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "net/client.h"
#include "net/net_testing.h"

namespace callgate::net::client_yield_test {
namespace {

// A listener whose only connection gets the head of a response and then as many bytes as the kernel takes.
class EagerServer {
 public:
  EagerServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~EagerServer() {
    ::close(connection_);
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  // False: nobody has connected yet.
  bool begin() {
    connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection_ < 0) return false;
    const std::string_view head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
    EXPECT_EQ(::send(connection_, head.data(), head.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(head.size()));
    return true;
  }
  void fill() {
    while (::send(connection_, block_.data(), block_.size(), MSG_NOSIGNAL) > 0) {
    }
  }

 private:
  int listener_;
  int connection_ = -1;
  std::uint16_t port_ = 0;
  const std::string block_ = std::string(std::size_t{64} << 10, 'x');
};

TEST(ClientExchange, lets_others_run_while_it_reads_a_body_that_is_there) {
  Loop loop;
  HttpClient client(loop, {});
  EagerServer server;
  const Target target{.host = "127.0.0.1", .port = server.port()};
  constexpr std::size_t kReads = 200;
  std::size_t turns = 0;
  bool over = false;
  const auto serve = [&]() -> Task<> {
    while (!server.begin()) co_await loop.sleep(Millis(1));
  };
  const auto other = [&]() -> Task<> {
    while (!over) {
      co_await loop.sleep(Millis(0));
      ++turns;
    }
  };
  const auto run = [&]() -> Task<> {
    ClientExchange exchange(client, target);
    loop.spawn(serve());
    ClientRequest request{.method = "GET", .path = "/"};
    const auto sent = co_await exchange.send(request);
    EXPECT_TRUE(sent);
    if (!sent) co_return;
    loop.spawn(other());
    turns = 0;
    for (std::size_t i = 0; i < kReads; ++i) {
      server.fill();  // there is always something to read
      const auto piece = co_await exchange.read();
      EXPECT_TRUE(piece);
      if (!piece) break;
    }
    over = true;
    exchange.cancel();
  };
  run_to_end(loop, run());
  EXPECT_GE(turns, kReads / 32 - 1) << "every 32 reads at the latest";
}

}  // namespace
}  // namespace callgate::net::client_yield_test
