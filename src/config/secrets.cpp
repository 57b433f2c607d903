#include "config/secrets.h"

#include "base/masked_url.h"
#include "capture/secret_mask.h"

namespace callgate::server {

std::vector<std::string> secrets_of(const Config& config) {
  std::vector<std::string> secrets;
  // The last word of a value is the credential itself: `Bearer abc`.
  const auto add_values = [&](const std::vector<std::pair<std::string, std::string>>& headers) {
    for (const auto& [name, value] : headers) {
      const std::string credential = value.substr(value.rfind(' ') + 1);
      if (is_long_enough_for_a_secret(credential)) secrets.push_back(credential);
    }
  };
  const auto add_url = [&](const std::string& url) {
    for (std::string& secret : secrets_in_url(url)) {
      if (is_long_enough_for_a_secret(secret)) secrets.push_back(std::move(secret));
    }
  };
  add_url(config.store.url);
  add_url(config.otlp.endpoint);
  for (const KeyConfig& key : config.keys) secrets.push_back(key.secret.reveal());
  for (const UpstreamConfig& upstream : config.upstreams) {
    if (!upstream.key.empty()) secrets.push_back(upstream.key.reveal());
    add_values(upstream.headers);
    add_values(upstream.env);
    add_url(upstream.url);
  }
  add_values(config.otlp.headers);
  for (const ToolTable& tool : config.tools) {
    add_values(tool.headers);
    add_url(tool.url);
    add_values(tool.environment);
  }
  for (const HookTable& hook : config.hooks) {
    add_values(hook.headers);
    add_url(hook.url);
  }
  return secrets;
}

}  // namespace callgate::server
