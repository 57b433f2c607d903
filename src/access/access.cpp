#include "access/access.h"

#include <algorithm>

#include "base/glob.h"

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

bool KeyState::may_use(std::string_view model) const { return matches_any(config.models, model); }

bool may_use_tool(const KeyConfig& key, std::string_view tool) {
  return matches_any(key.tools, tool) && !matches_any(key.deny_tools, tool);
}

Access::Access(const std::vector<KeyConfig>& keys, const Access* before) {
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

Result<KeyState*> Access::authenticate(std::string_view authorization,
                                       std::string_view x_api_key) const {
  if (keys_.empty()) return nullptr;
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
  return fail(ErrorCode::unauthenticated,
              given.empty() ? "no API key was sent; use the header `authorization: Bearer KEY`"
                            : "this API key is not known");
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
