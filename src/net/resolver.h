// Lookup: one question to the system's resolver, asked off the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "callgate/result.h"
#include "net/address.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::net {

class Lookup {
 public:
  // Shared with the resolver, which may answer after the asker has left.
  static std::shared_ptr<Lookup> start(Loop& loop, const std::string& host, std::uint16_t port);
  ~Lookup();

  // Once. timed_out, or upstream_failed when the name has no address or cancel() was called.
  Task<Result<std::vector<Address>>> wait(Millis timeout);
  void cancel();

 private:
  struct Resolver;
  Lookup(Loop& loop, std::string host);

  Signal signal_;
  std::string host_;
  std::unique_ptr<Resolver> resolver_;
  Result<std::vector<Address>> answer_;
};

}  // namespace callgate::net
