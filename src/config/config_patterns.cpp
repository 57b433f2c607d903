// Patterns that match nothing: most often a name was mistyped, or a table renamed.
#include <algorithm>

#include "base/glob.h"
#include "base/quoted.h"
#include "config/mistakes.h"

namespace callgate::server {
namespace {

bool matches_model(const Config& config, std::string_view pattern) {
  return std::any_of(config.models.begin(), config.models.end(), [&](const ModelConfig& model) {
    return glob_matches(pattern, model.name) || glob_matches(model.name, pattern) ||
           std::any_of(model.aliases.begin(), model.aliases.end(),
                       [&](const auto& alias) { return glob_matches(pattern, alias); });
  });
}

// An upstream may serve models that no table names.
bool has_other_models(const Config& config) {
  return std::any_of(config.upstreams.begin(), config.upstreams.end(), [](const auto& upstream) {
    return !upstream.models.empty() || upstream.passthrough;
  });
}

// A server may have tools that no table names.
bool has_other_tools(const Config& config) {
  return std::any_of(config.tools.begin(), config.tools.end(),
                     [](const auto& tool) { return tool.kind == "mcp"; });
}

class Patterns {
 public:
  Patterns(const Config& config, std::vector<Mistake>& found) : config_(config), found_(found) {}

  void models(std::string path, const std::string& who, const std::vector<std::string>& patterns) {
    if (has_other_models(config_)) return;
    check(std::move(path), who, patterns, "model",
          [&](const std::string& pattern) { return matches_model(config_, pattern); });
  }
  void tools(std::string path, const std::string& who, const std::vector<std::string>& patterns) {
    if (has_other_tools(config_)) return;
    check(std::move(path), who, patterns, "tool", [&](const std::string& pattern) {
      return std::any_of(config_.tools.begin(), config_.tools.end(),
                         [&](const auto& tool) { return glob_matches(pattern, tool.name); });
    });
  }
  void upstreams(std::string path, const std::string& who, const std::string& pattern) {
    check(std::move(path), who, {pattern}, "upstream", [&](const std::string& name) {
      return std::any_of(config_.upstreams.begin(), config_.upstreams.end(),
                         [&](const auto& upstream) { return glob_matches(name, upstream.name); });
    });
  }

 private:
  template <class Fits>
  void check(std::string path, const std::string& who, const std::vector<std::string>& patterns,
             std::string_view what, const Fits& fits) {
    for (const std::string& pattern : patterns) {
      if (pattern == "*" || pattern.empty() || fits(pattern)) continue;
      const std::string key = path.substr(path.rfind('.') + 1);
      found_.push_back(
          {.path = path,
           .message = who + key + ": " + in_quotes(pattern) + " matches no " + std::string(what),
           .warning = true});
    }
  }

  const Config& config_;
  std::vector<Mistake>& found_;
};

}  // namespace

void add_idle_patterns(const Config& config, std::vector<Mistake>& found) {
  Patterns patterns(config, found);
  patterns.models("capture.models", "capture.", config.capture.models);
  for (std::size_t i = 0; i < config.hooks.size(); ++i) {
    const HookTable& hook = config.hooks[i];
    const std::string who = "hook \"" + hook.name + "\": ";
    patterns.tools(path_of("hook", i, "tools"), who, hook.tools);
    patterns.models(path_of("hook", i, "models"), who, hook.models);
  }
  for (std::size_t i = 0; i < config.keys.size(); ++i) {
    const KeyConfig& key = config.keys[i];
    const std::string who = "key \"" + key.name + "\": ";
    patterns.models(path_of("key", i, "models"), who, key.models);
    patterns.tools(path_of("key", i, "tools"), who, key.tools);
    patterns.tools(path_of("key", i, "deny_tools"), who, key.deny_tools);
  }
  for (std::size_t i = 0; i < config.prices.size(); ++i) {
    const PriceConfig& price = config.prices[i];
    patterns.models(path_of("price", i, "model"), "price: ", {price.model});
    patterns.upstreams(path_of("price", i, "upstream"), "price: ", price.upstream);
  }
  for (std::size_t i = 0; i < config.models.size(); ++i) {
    const ModelConfig& model = config.models[i];
    patterns.tools(path_of("model", i, "loop_tools"),
                   "model \"" + model.name + "\": ", model.loop_tools);
  }
}

}  // namespace callgate::server
