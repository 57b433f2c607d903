#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "net/owned_fd.h"

namespace callgate::net {

namespace {

tl::unexpected<Error> cannot_listen(const std::string& name) {
  return fail(ErrorCode::unavailable, "listen on " + name + ": " + std::strerror(errno));
}

void enable(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof(on));
}

// Left behind by a process that ended without removing it.
void remove_stale_socket(const Address& address) {
  const auto& name = reinterpret_cast<const sockaddr_un&>(address.storage);
  struct stat status;
  if (::lstat(name.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const OwnedFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED) {
    ::unlink(name.sun_path);
  }
}

bool port_is_free(const Address& address) {
  const OwnedFd probe(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  enable(probe.get(), SOL_SOCKET, SO_REUSEADDR);
  if (address.family() == AF_INET6) enable(probe.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  return ::bind(probe.get(), address.get(), address.size) == 0;
}

// 127.0.0.1:8080. Every request's record has one, and inet_ntop() takes ten times as long.
std::string to_v4_text(const sockaddr_in& address) {
  std::array<unsigned char, 4> bytes;
  std::memcpy(bytes.data(), &address.sin_addr, bytes.size());
  std::array<char, sizeof("255.255.255.255:65535")> text;
  char* at = text.data();
  char* const end = at + text.size();
  for (const unsigned char byte : bytes) {
    at = std::to_chars(at, end, static_cast<unsigned>(byte)).ptr;
    *at++ = '.';
  }
  at[-1] = ':';
  at = std::to_chars(at, end, ntohs(address.sin_port)).ptr;
  return std::string(text.data(), at);
}

}  // namespace

std::string to_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  switch (address.family()) {
    case AF_INET:
      return to_v4_text(reinterpret_cast<const sockaddr_in&>(address.storage));
    case AF_INET6: {
      const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
      ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
      return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
    }
    case AF_UNIX:
      return "unix";
    default:
      return "unknown";
  }
}

Address unix_address(const std::string& path) {
  Address address;
  auto& name = reinterpret_cast<sockaddr_un&>(address.storage);
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  address.size = sizeof(sockaddr_un);
  return address;
}

Address numeric_address(const std::string& host, std::uint16_t port) {
  Address address;
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.size = sizeof(v4);
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.size = sizeof(v6);
  }
  return address;
}

Result<std::vector<Address>> resolve_blocking(const std::string& host, std::uint16_t port) {
  if (const Address numeric = numeric_address(host, port); numeric.size != 0) {
    return std::vector<Address>{numeric};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) {
    return fail(ErrorCode::upstream_failed, "resolve " + host + ": " + ::gai_strerror(code));
  }
  std::vector<Address> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  return addresses;
}

Result<int> open_listener(const Address& address, const std::string& name, bool shared) {
  const bool is_unix = address.family() == AF_UNIX;
  if (is_unix) remove_stale_socket(address);
  // Sockets that share a port would let two processes split its connections unnoticed.
  if (!is_unix && !shared && !port_is_free(address)) return cannot_listen(name);
  OwnedFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return cannot_listen(name);
  if (!is_unix) {
    enable(fd.get(), SOL_SOCKET, SO_REUSEADDR);
    enable(fd.get(), SOL_SOCKET, SO_REUSEPORT);
    enable(fd.get(), IPPROTO_TCP, TCP_NODELAY);  // accepted sockets inherit it
    if (address.family() == AF_INET6) enable(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  }
  if (::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), 4096) != 0) {
    return cannot_listen(name);
  }
  return fd.release();
}

Result<Address> local_address(int fd) {
  Address address;
  address.size = sizeof(address.storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) {
    return fail(ErrorCode::internal, std::string("getsockname: ") + std::strerror(errno));
  }
  return address;
}

}  // namespace callgate::net
