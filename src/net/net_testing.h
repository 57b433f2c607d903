// For tests: a server on its own thread, plain blocking sockets, and scripted upstreams.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "net/loop.h"
#include "net/server.h"
#include "net/task.h"

namespace callgate::net {

// A blocking socket that gives up after ten seconds.
class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {
    const timeval limit{10, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~RawSocket() { close(); }

  static RawSocket connect(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      ::perror("connect");
    return RawSocket(fd);
  }

  int fd() const { return fd_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Empty at the end, on a reset and after ten seconds.
  std::string receive(std::size_t most = 64 * 1024) {
    std::string bytes(most, '\0');
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  std::string receive_until(std::string_view mark) {
    std::string all;
    while (all.find(mark) == std::string::npos) {
      const std::string more = receive(1);
      if (more.empty()) break;
      all += more;
    }
    return all;
  }

  std::string receive_all() {
    std::string all;
    for (std::string more = receive(); !more.empty(); more = receive()) all += more;
    return all;
  }

  bool closed_within(int milliseconds) {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, milliseconds) <= 0) return false;
    char byte;
    return ::recv(fd_, &byte, 1, MSG_PEEK) <= 0;
  }

  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close();
  }
  void shut_down_writing() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// A server with its loop on a thread of its own.
class ServerThread {
 public:
  explicit ServerThread(Answer answer, ServerOptions options = {}, const TlsFiles* tls = nullptr,
                        const Endpoint& endpoint = {.host = "127.0.0.1"})
      : server_(loop_, std::move(options), std::move(answer)) {
    Result<Endpoint> bound = server_.listen(endpoint, tls);
    if (!bound) throw std::runtime_error(bound.error().message);
    endpoint_ = *bound;
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~ServerThread() {
    loop_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return endpoint_.port; }
  const Endpoint& endpoint() const { return endpoint_; }

  // Runs `work` on the loop and waits for its result.
  template <class Work>
  auto on_loop(Work work) {
    std::promise<decltype(work(server_))> promise;
    loop_.post([&] {
      if constexpr (std::is_void_v<decltype(work(server_))>) {
        work(server_);
        promise.set_value();
      } else {
        promise.set_value(work(server_));
      }
    });
    return promise.get_future().get();
  }

  // Polls on the loop until `condition` holds; false after ten seconds.
  bool eventually(const std::function<bool(HttpServer&)>& condition) {
    for (int i = 0; i < 5000; ++i) {
      if (on_loop(condition)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

 private:
  Loop loop_;
  HttpServer server_;
  Endpoint endpoint_;
  std::thread thread_;
};

// A thread that runs one script for each connection it accepts, one after the other.
class RawUpstream {
 public:
  using Script = std::function<void(RawSocket&)>;

  explicit RawUpstream(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0) ::perror("bind");
    ::listen(fd_, 16);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~RawUpstream() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }

  Target target() const { return {.host = "127.0.0.1", .port = port_}; }
  int accepted() const { return accepted_; }

 private:
  void serve() {
    for (const Script& script : scripts_) {
      RawSocket socket(::accept(fd_, nullptr, nullptr));
      if (socket.fd() < 0) return;
      ++accepted_;
      script(socket);
    }
  }

  std::vector<Script> scripts_;
  int fd_;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::thread thread_;
};

// Runs `task` on `loop` until it ends.
inline void run_to_end(Loop& loop, Task<> task) {
  const auto wrapper = [](Loop& on, Task<> inner) -> Task<> {
    co_await std::move(inner);
    on.stop();
  };
  loop.post([&] { loop.spawn(wrapper(loop, std::move(task))); });
  loop.run();
}

}  // namespace callgate::net
