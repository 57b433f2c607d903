#include "config/secrets.h"

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
  for (const KeyConfig& key : config.keys) secrets.push_back(key.secret.reveal());
  for (const UpstreamConfig& upstream : config.upstreams) {
    if (!upstream.key.empty()) secrets.push_back(upstream.key.reveal());
    add_values(upstream.headers);
  }
  add_values(config.otlp.headers);
  for (const ToolTable& tool : config.tools) {
    add_values(tool.headers);
    add_values(tool.environment);
  }
  for (const HookTable& hook : config.hooks) add_values(hook.headers);
  return secrets;
}

}  // namespace callgate::server
