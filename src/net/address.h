// Socket addresses and the sockets that listen on them.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "callgate/result.h"
#include "net/url.h"

namespace callgate::net {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// `127.0.0.1:51234`, `[::1]:51234` or `unix`.
std::string to_text(const Address& address);

Address unix_address(const std::string& path);
// An address that needs no resolver: numbers only. Size 0 when `host` is a name.
Address numeric_address(const std::string& host, std::uint16_t port);
// Asks the system's resolver, blocking.
Result<std::vector<Address>> resolve_blocking(const std::string& host, std::uint16_t port);

// A non-blocking socket that listens. `shared`: other sockets may listen on the same port.
// Without it, a port that any process holds is an error.
Result<int> open_listener(const Address& address, const std::string& name, bool shared);
Result<Address> local_address(int fd);

}  // namespace callgate::net
