// Who may ask: bearer keys, their limits, and which browser origins are let in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/limits.h"
#include "access/wrong_keys.h"
#include "callgate/result.h"
#include "config/config.h"

namespace callgate::server {

// A key with its counters. Lives on through a reload that does not change the key.
struct KeyState {
  explicit KeyState(const KeyConfig& key)
      : config(key),
        rate(key.requests_per_minute),
        streams(key.max_streams),
        bodies(key.max_streams == 0 ? 0 : key.max_streams + kSpareBodies) {}
  KeyConfig config;
  RateLimit rate;
  ConcurrencyLimit streams;
  ConcurrencyLimit bodies;       // on their way
  KnownAddresses addresses;      // that it was used from
  std::uint64_t used_round = 0;  // of SharedLimits

  bool may_use(std::string_view model) const;

 private:
  // Beyond as many as streams, so that few slow ones do not shut the key out.
  static constexpr std::int64_t kSpareBodies = 16;
};

// Whether the key's `tools` and `deny_tools` let it use a tool of that name.
bool may_use_tool(const KeyConfig& key, std::string_view tool);

class Access {
 public:
  // `before` is what a reload replaces.
  Access(const std::vector<KeyConfig>& keys, const Access* before);

  bool open() const { return keys_.empty(); }
  const std::vector<std::shared_ptr<KeyState>>& keys() const { return keys_; }
  // The key that the request carries, as `authorization: Bearer` or `x-api-key`; nullptr on an open gateway. Every
  // known key is compared in constant time, so that timing tells nothing.
  Result<KeyState*> authenticate(std::string_view authorization, std::string_view x_api_key) const;

 private:
  std::vector<std::shared_ptr<KeyState>> keys_;
};

// The origin that may read the answer, or empty. `configured` is cors.origins.
std::string_view allowed_origin(std::string_view origin, const std::vector<std::string>& configured,
                                bool loopback_listener);

// A client's own request id is kept when it is short and harmless.
bool is_acceptable_request_id(std::string_view id);

}  // namespace callgate::server
