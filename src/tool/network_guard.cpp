#include "tool/network_guard.h"

#include <algorithm>

#include "base/glob.h"
#include "net/address.h"

namespace callgate::tool {

Result<NetworkGuard> NetworkGuard::make(const NetworkConfig& config) {
  NetworkGuard guard;
  guard.hosts_ = config.hosts;
  for (const std::string& text : config.addresses) {
    const auto range = net::AddressRange::parse(text);
    if (!range) {
      return fail(ErrorCode::invalid_request,
                  "\"" + text + "\": expected an address or a range such as 10.0.0.0/8");
    }
    guard.allowed_.push_back(*range);
  }
  return guard;
}

Result<void> NetworkGuard::check_host(std::string_view host) const {
  const bool listed =
      hosts_.empty() || std::any_of(hosts_.begin(), hosts_.end(), [&](auto& pattern) {
        return glob_matches(pattern, host, Case::ignored);
      });
  if (listed) return {};
  return fail(ErrorCode::forbidden, "the host \"" + std::string(host) + "\" is not allowed");
}

bool NetworkGuard::may_connect(const net::Address& address) const {
  if (net::kind_of(address) == net::AddressKind::global) return true;
  return std::any_of(allowed_.begin(), allowed_.end(),
                     [&](const net::AddressRange& range) { return range.contains(address); });
}

std::unique_ptr<net::HttpClient> make_guarded_client(net::Loop& loop, const NetworkConfig& config,
                                                     const NetworkGuard& guard) {
  net::ClientOptions options;
  options.ca_file = config.ca_file;
  options.idle_per_target = 16;
  options.may_connect = [guard](const net::Address& address) { return guard.may_connect(address); };
  return std::make_unique<net::HttpClient>(loop, std::move(options));
}

}  // namespace callgate::tool
