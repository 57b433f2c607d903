// Listener: one listening socket of a server. Accepts as long as it lives.
#pragma once

#include "net/address.h"
#include "net/descriptor.h"
#include "net/server.h"
#include "net/tls.h"

namespace callgate::net {

class Listener {
 public:
  // Takes ownership of `fd`. `removes_path`: the Unix socket's file goes with it.
  Listener(HttpServer& server, int fd, Endpoint endpoint, TlsContext tls, bool removes_path);
  ~Listener();

  const Endpoint& endpoint() const { return endpoint_; }
  const TlsContext& tls() const { return tls_; }
  void use_tls(TlsContext tls) { tls_ = std::move(tls); }
  int fd() const { return descriptor_.fd(); }

 private:
  void watch();
  void accept_all();

  HttpServer& server_;
  Descriptor descriptor_;
  Endpoint endpoint_;
  TlsContext tls_;
  bool removes_path_;
  Deadline retry_;
};

}  // namespace callgate::net
