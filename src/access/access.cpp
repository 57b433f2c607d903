#include "access/access.h"

#include <algorithm>

#include "access/key_book.h"
#include "base/glob.h"
#include "net/unix_time.h"

namespace callgate::server {
namespace {

bool is_loopback_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  std::string_view host = origin.substr(scheme + 3);
  const std::size_t port = host.rfind(':');
  if (port != std::string_view::npos && host.find(']', port) == std::string_view::npos) {
    host = host.substr(0, port);
  }
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

std::optional<Error> KeyState::ended(std::int64_t now_ms) const {
  const std::int64_t end = ends_at.load(std::memory_order_relaxed);
  if (end == 0 || now_ms < end) return std::nullopt;
  return Error{.code = ErrorCode::unauthenticated,
               .message = "this API key was revoked or has expired",
               .upstream_code = "api_key_ended"};
}

bool KeyState::may_use(std::string_view model) const { return matches_any(config.models, model); }

bool may_use_tool(const KeyConfig& key, std::string_view tool) {
  return matches_any(key.tools, tool) && !matches_any(key.deny_tools, tool);
}

Access::Access(const std::vector<KeyConfig>& keys, const Access* before, StoredAccess stored)
    : stored_(stored) {
  for (const KeyConfig& key : keys) {
    std::shared_ptr<KeyState> state;
    if (before != nullptr) {
      for (const auto& old : before->keys_) {
        if (old->config == key) state = old;
      }
    }
    keys_.push_back(state ? state : std::make_shared<KeyState>(key));
  }
}

Result<KeyRef> Access::authenticate(std::string_view authorization,
                                    std::string_view x_api_key) const {
  if (open()) return nullptr;
  std::string_view given = x_api_key;
  if (authorization.size() > 7 && (authorization[0] | 0x20) == 'b' &&
      authorization.substr(1, 6) == "earer ") {
    given = authorization.substr(7);
  }
  KeyState* found = nullptr;
  for (const auto& key : keys_) {
    if (key->config.secret.matches(given)) found = key.get();
  }
  if (found != nullptr) return found;
  if (given.empty()) {
    return fail(ErrorCode::unauthenticated,
                "no API key was sent; use the header `authorization: Bearer KEY`");
  }
  if (stored_.book != nullptr) return stored_.book->find(given, net::unix_ms());
  return fail(ErrorCode::unauthenticated, "this API key is not known");
}

Result<KeyRef> Access::find(std::string_view name) const {
  if (open() && name.empty()) return nullptr;
  for (const auto& key : keys_) {
    if (key->config.name == name) return key.get();
  }
  if (stored_.book != nullptr) return stored_.book->find_by_name(name, net::unix_ms());
  return fail(ErrorCode::unauthenticated, "the key of this connection is no longer valid");
}

std::string_view allowed_origin(std::string_view origin, const std::vector<std::string>& configured,
                                bool loopback_listener) {
  if (origin.empty()) return {};
  if (configured.empty()) return loopback_listener && is_loopback_origin(origin) ? origin : "";
  for (const std::string& pattern : configured) {
    if (pattern == "*") return "*";
    if (glob_matches(pattern, origin)) return origin;
  }
  return {};
}

bool is_acceptable_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == ':';
  });
}

}  // namespace callgate::server
