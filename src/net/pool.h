// Pool: the connections of a client, kept open between requests, and its TLS context.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/client.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "net/tls.h"

namespace callgate::net {

class ClientConnection {
 public:
  ClientConnection(Loop& loop, int fd) : stream(loop, fd) {}

  Stream stream;
  bool reused = false;

 private:
  friend class Pool;
  Pool* pool_ = nullptr;
  Deadline idle_;
};

class Pool {
 public:
  Pool(Loop& loop, ClientOptions options)
      : loop_(loop), options_(std::move(options)), resolver_(loop) {}

  const ClientOptions& options() const { return options_; }
  Resolver& resolver() { return resolver_; }
  // Made at the first use.
  Result<const TlsContext*> tls();

  // The connection used last, or none.
  std::unique_ptr<ClientConnection> take(const Target& target);
  // REQUIRES: the response was read to its end.
  void give(const Target& target, std::unique_ptr<ClientConnection> connection);

  std::size_t idle() const;
  void close_idle() { slots_.clear(); }

 private:
  struct Slot {
    Target target;
    std::vector<std::unique_ptr<ClientConnection>> idle;
  };

  Slot* find(const Target& target);
  void drop(ClientConnection& connection);

  Loop& loop_;
  ClientOptions options_;
  Resolver resolver_;
  std::optional<TlsContext> tls_;
  std::vector<Slot> slots_;
};

}  // namespace callgate::net
