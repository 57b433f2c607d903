// Who may ask: bearer keys, their limits, and which browser origins are let in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/budget.h"
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
        tokens(key.tokens_per_minute),
        budgets(make_budgets(key)),
        streams(key.max_streams),
        bodies(key.max_streams == 0 ? 0 : key.max_streams + kSpareBodies) {}
  KeyConfig config;
  RateLimit rate;
  RateLimit tokens;
  Budgets budgets;
  ConcurrencyLimit streams;
  ConcurrencyLimit bodies;       // on their way
  KnownAddresses addresses;      // that it was used from
  std::uint64_t used_round = 0;  // of SharedLimits
  // Of a key of the store: when it expires or was revoked, in Unix milliseconds; 0: neither. Any thread.
  std::atomic<std::int64_t> ends_at{0};

  // Why its answers may not go on, if so.
  std::optional<Error> ended(std::int64_t now_ms) const;

  bool may_use(std::string_view model) const;
  // What its answers use has to be counted while they come.
  bool counts_tokens() const { return tokens.limited() || !budgets.empty(); }

 private:
  // Beyond as many as streams, so that few slow ones do not shut the key out.
  static constexpr std::int64_t kSpareBodies = 16;
};

// A key in use: of the file, where the configuration that it came from keeps it, or of the store, where this does.
class KeyRef {
 public:
  KeyRef() = default;
  KeyRef(std::nullptr_t) {}
  KeyRef(KeyState* of_file) : key_(of_file) {}
  KeyRef(std::shared_ptr<KeyState> of_store) : key_(of_store.get()), hold_(std::move(of_store)) {}

  KeyState* operator->() const { return key_; }
  operator KeyState*() const { return key_; }
  // It may end at any time.
  bool is_stored() const { return hold_ != nullptr; }

 private:
  KeyState* key_ = nullptr;
  std::shared_ptr<KeyState> hold_;  // nullptr: it is one of the file
};

// Whether the key's `tools` and `deny_tools` let it use a tool of that name.
bool may_use_tool(const KeyConfig& key, std::string_view tool);

class KeyBook;

// Keys of the store, where they are looked for.
struct StoredAccess {
  const KeyBook* book = nullptr;  // nullptr: there is no store. Outlives the access
  bool required = false;          // the gateway asks for a key though the file has none
};

class Access {
 public:
  // `before` is what a reload replaces.
  Access(const std::vector<KeyConfig>& keys, const Access* before, StoredAccess stored = {});

  bool open() const { return keys_.empty() && !stored_.required; }
  // Those of the file.
  const std::vector<std::shared_ptr<KeyState>>& keys() const { return keys_; }

  // The key that the request carries, as `authorization: Bearer` or `x-api-key`; nullptr on an open gateway. Every key of
  // the file is compared in constant time, so that timing tells nothing; then the store's are looked at.
  Result<KeyRef> authenticate(std::string_view authorization, std::string_view x_api_key) const;
  // The key of a connection that authenticated before, if it may still be used. Empty: of an open gateway.
  Result<KeyRef> find(std::string_view name) const;

 private:
  std::vector<std::shared_ptr<KeyState>> keys_;
  StoredAccess stored_;
};

// The origin that may read the answer, or empty. `configured` is cors.origins.
std::string_view allowed_origin(std::string_view origin, const std::vector<std::string>& configured,
                                bool loopback_listener);

// A client's own request id is kept when it is short and harmless.
bool is_acceptable_request_id(std::string_view id);

}  // namespace callgate::server
