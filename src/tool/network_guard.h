// NetworkGuard: which servers a tool may call, by name and by the address that the name stands for when it is connected
// to. What is not the internet (loopback, private and link-local networks, metadata services) is refused unless listed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "net/address_range.h"
#include "net/client.h"
#include "tool/config.h"

namespace callgate::tool {

class NetworkGuard {
 public:
  static Result<NetworkGuard> make(const NetworkConfig& config);

  Result<void> check_host(std::string_view host) const;
  bool may_connect(const net::Address& address) const;
  bool has_hosts() const { return !hosts_.empty(); }

 private:
  std::vector<std::string> hosts_;
  std::vector<net::AddressRange> allowed_;
};

// A client that connects to nothing else.
std::unique_ptr<net::HttpClient> make_guarded_client(net::Loop& loop, const NetworkConfig& config,
                                                     const NetworkGuard& guard);

}  // namespace callgate::tool
