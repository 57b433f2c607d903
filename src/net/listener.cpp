#include "net/listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace callgate::net {

namespace {

constexpr Millis kBackOff{100};
constexpr int kBatch = 64;

}  // namespace

Listener::Listener(HttpServer& server, int fd, Endpoint endpoint, TlsContext tls, bool removes_path)
    : server_(server),
      descriptor_(server.loop_, fd),
      endpoint_(std::move(endpoint)),
      tls_(std::move(tls)),
      removes_path_(removes_path) {
  retry_.on_expiry([](void* self) { static_cast<Listener*>(self)->watch(); }, this);
  watch();
}

Listener::~Listener() {
  if (removes_path_) ::unlink(endpoint_.unix_path.c_str());
}

void Listener::watch() {
  descriptor_.watch([](void* self) { static_cast<Listener*>(self)->accept_all(); }, this);
}

void Listener::accept_all() {
  for (int i = 0; i < kBatch; ++i) {
    Address peer;
    peer.size = sizeof(peer.storage);
    const int fd = ::accept4(descriptor_.fd(), reinterpret_cast<sockaddr*>(&peer.storage),
                             &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      server_.accepted(fd, peer, *this);
      continue;
    }
    switch (errno) {
      case EINTR:
      case ECONNABORTED:
      case EPROTO:
        continue;
      case EAGAIN:
        descriptor_.drained();
        return watch();
      default:
        // Out of descriptors or memory: others have to end first.
        server_.log(std::string("accept: ") + std::strerror(errno));
        return server_.loop_.arm(retry_, kBackOff);
    }
  }
  watch();
}

}  // namespace callgate::net
