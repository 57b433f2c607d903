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
  // REQUIRES: the pool outlives it.
  ClientConnection(Loop& loop, int fd, Pool& pool);
  ~ClientConnection();

  Stream stream;
  bool reused = false;

 private:
  friend class Pool;
  Pool& pool_;
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

  // Of the last TLS session with this server.
  const TlsTicket& ticket(const Target& target);
  void keep_ticket(const Target& target, TlsTicket ticket);

  // As many connections are open as may be.
  bool is_full() const {
    return options_.most_connections > 0 && open_ >= options_.most_connections;
  }
  // Is notified when a connection is given back or gone. REQUIRES: it leaves before it is destroyed.
  void join_line(Signal& signal) { line_.push_back(&signal); }
  void leave_line(Signal& signal);

  std::size_t idle() const;
  void close_idle() { slots_.clear(); }

 private:
  friend class ClientConnection;
  struct Slot {
    Target target;
    std::vector<std::unique_ptr<ClientConnection>> idle;
    TlsTicket ticket;
  };

  Slot* find(const Target& target);
  Slot& find_or_add(const Target& target);
  void drop(ClientConnection& connection);
  void wake_first();

  Loop& loop_;
  ClientOptions options_;
  Resolver resolver_;
  std::optional<TlsContext> tls_;
  std::size_t open_ = 0;
  std::vector<Signal*> line_;
  std::vector<Slot> slots_;  // goes first: what is in it counts itself out
};

}  // namespace callgate::net
