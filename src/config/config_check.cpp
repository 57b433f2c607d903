#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/glob.h"
#include "base/masked_url.h"
#include "base/quoted.h"
#include "callgate/dialect.h"
#include "config/config.h"
#include "config/config_text.h"
#include "config/dialect_config.h"
#include "config/mistakes.h"
#include "config/server_kind.h"
#include "config/tool_config.h"
#include "loop/evicted_results.h"
#include "loop/tool_set.h"
#include "net/url.h"
#include "store/request_log.h"
#include "upstream/model_list.h"
#include "upstream/wire_format.h"

namespace callgate::server {
namespace {

using Words = std::initializer_list<std::string_view>;

// `warn or refuse`; `a, b or c`.
std::string one_of(Words words) {
  std::string text;
  std::size_t left = words.size();
  for (const std::string_view word : words) {
    --left;
    if (word.empty()) continue;
    text += (text.empty() ? "" : left == 0 ? " or " : ", ") + std::string(word);
  }
  return text;
}

bool is_glob(std::string_view name) { return name.find_first_of("*?") != std::string_view::npos; }

bool lists_models(const Config& config) {
  return std::any_of(config.upstreams.begin(), config.upstreams.end(), [](const auto& upstream) {
    return !upstream.models.empty() || upstream.passthrough;
  });
}

class Checker {
 public:
  explicit Checker(const Config& config) : config_(config), dialects_(make_catalog(config)) {}
  std::vector<Mistake> run();

 private:
  void wrong(std::string path, std::string message) {
    found_.push_back({.path = std::move(path), .message = std::move(message)});
  }
  // A key of one table, which is named in the message.
  struct Table {
    std::string_view section;
    std::size_t index;
    std::string_view name;
  };
  void wrong(const Table& table, std::string_view key, const std::string& message) {
    std::string path = std::string(table.section) + "[" + std::to_string(table.index) + "]";
    if (!key.empty()) path.append(".").append(key);
    wrong(std::move(path),
          std::string(table.section) + " \"" + std::string(table.name) + "\": " + message);
  }
  void word(const Table& table, std::string_view key, const std::string& value, Words words) {
    if (std::find(words.begin(), words.end(), value) != words.end()) return;
    wrong(table, key, std::string(key) + " must be " + one_of(words) + ", got " + in_quotes(value));
  }
  void word(std::string_view path, const std::string& value, Words words) {
    if (std::find(words.begin(), words.end(), value) != words.end()) return;
    wrong(std::string(path),
          std::string(path) + " must be " + one_of(words) + ", got " + in_quotes(value));
  }

  template <class List>
  void names(const List& list, std::string_view section);
  void listeners();
  void otlp();
  void store();
  void rooms();
  void key(const KeyConfig& key, std::size_t index);
  void price(const PriceConfig& price, std::size_t index);
  void upstream(const UpstreamConfig& upstream, std::size_t index);
  void wire(const UpstreamConfig& upstream, const Table& table);
  void address(const UpstreamConfig& upstream, const Table& table);
  bool is_served(const std::string& name) const;
  void model(const ModelConfig& model, std::size_t index);
  void pool(const ModelConfig& model, const Table& table);
  void upstream_names(const ModelConfig& model, const Table& table);
  void model_tools(const ModelConfig& model, const Table& table);
  void aliases();
  void tools();
  void hooks();
  void dialects();

  const Config& config_;
  const dialect::Catalog dialects_;
  std::vector<Mistake> found_;
};

std::vector<Mistake> Checker::run() {
  listeners();
  if (config_.threads > 256) wrong("threads", "threads: expected at most 256");
  word("metrics", config_.metrics, {"open", "key", "admin"});
  word("log.level", config_.log.level, {"debug", "info", "warning", "error", "off"});
  word("log.format", config_.log.format, {"text", "json"});
  store();
  rooms();
  if (!config_.capture.models.empty() && config_.capture.dir.empty()) {
    wrong("capture.models", "capture.models: capture.dir is not set");
  }
  otlp();
  if (auto made = to_loop_options(config_.loop); !made) wrong("loop", made.error().message);
  tools();
  hooks();
  names(config_.keys, "key");
  for (std::size_t i = 0; i < config_.keys.size(); ++i) key(config_.keys[i], i);
  for (std::size_t i = 0; i < config_.prices.size(); ++i) price(config_.prices[i], i);
  dialects();
  names(config_.upstreams, "upstream");
  for (std::size_t i = 0; i < config_.upstreams.size(); ++i) upstream(config_.upstreams[i], i);
  names(config_.models, "model");
  aliases();
  for (std::size_t i = 0; i < config_.models.size(); ++i) model(config_.models[i], i);
  return std::move(found_);
}

template <class List>
void Checker::names(const List& list, std::string_view section) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = std::string(section) + "[" + std::to_string(i) + "]";
    if (list[i].name.empty()) {
      wrong(path + ".name", "every [[" + std::string(section) + "]] needs a name");
    } else if (!seen.insert(list[i].name).second) {
      wrong(path + ".name",
            "two [[" + std::string(section) + "]] are named " + in_quotes(list[i].name));
    }
  }
}

void Checker::listeners() {
  if (config_.listen.empty()) wrong("listen", "listen: at least one address is needed");
  if (config_.tls.cert.empty() != config_.tls.key.empty()) {
    wrong("tls", "tls: cert and key belong together");
  }
  for (const std::string& text : config_.listen) {
    const auto address = parse_listen(text);
    if (!address) {
      wrong("listen", address.error().message);
      continue;
    }
    const auto endpoint = net::parse_endpoint(text.starts_with(':') ? "0.0.0.0" + text : text);
    if (!endpoint) {
      wrong("listen", "listen " + endpoint.error().message);
    } else if (config_.is_open() && !config_.allow_open && !address->is_loopback()) {
      wrong("listen", "listen \"" + text +
                          "\": an open gateway is allowed on loopback only; add a [[key]], or set "
                          "require_key or allow_open");
    }
  }
}

void Checker::rooms() {
  const std::string& address = config_.rooms.advertise;
  if (address.empty() || address == "off") return;
  const auto target = net::parse_url(address);
  if (!target || !target->unix_path.empty() || !target->path_prefix.empty()) {
    wrong("rooms.advertise", "rooms.advertise: " + in_quotes(address) +
                                 ", expected http://host:port, https://host:port or off");
  }
}

void Checker::store() {
  if (config_.require_key && config_.keys.empty() && config_.store.url == "none") {
    wrong("require_key", "require_key: there is neither a [[key]] nor a store that could have one");
  }
  word("store.synchronous", config_.store.synchronous, {"normal", "full"});
  word("store.when_down", config_.store.when_down, {"open", "closed"});
  word("store.overflow", config_.store.overflow, {"shed", "block"});
  if (auto ok = store::check_url(config_.store.url); !ok) wrong("store.url", ok.error().message);
}

void Checker::otlp() {
  const OtlpConfig& otlp = config_.otlp;
  const bool is_url = otlp.endpoint.starts_with("http://") || otlp.endpoint.starts_with("https://");
  if (!otlp.endpoint.empty() && !is_url) {
    wrong("otlp.endpoint", "otlp.endpoint must start with http:// or https://");
  } else if (!otlp.endpoint.empty()) {
    const auto target = net::parse_url(otlp.endpoint);
    if (!target) wrong("otlp.endpoint", "otlp.endpoint: " + target.error().message);
  }
  if (otlp.batch == 0 || otlp.batch > otlp.queue) {
    wrong("otlp.batch", "otlp.batch: expected 1 to otlp.queue");
  }
  if (otlp.interval.count() == 0 || otlp.timeout.count() == 0) {
    wrong("otlp", "otlp.interval and otlp.timeout must be longer than 0");
  }
  if (!(otlp.sample_ratio >= 0 && otlp.sample_ratio <= 1)) {
    wrong("otlp.sample_ratio", "otlp.sample_ratio: expected 0 to 1");
  }
}

void Checker::key(const KeyConfig& key, std::size_t index) {
  const Table table{"key", index, key.name};
  if (key.secret.empty()) return wrong(table, "secret", "secret is missing or empty");
  if (key.cost_per_day < 0 || key.cost_per_month < 0) {
    return wrong(table, "cost_per_day", "a budget must not be less than 0");
  }
  if (key.has_budget() && config_.store.url == "none") {
    return wrong(table, "tokens_per_day",
                 "a budget needs a store that remembers what was used, and [store] url is none");
  }
  for (std::size_t i = 0; i < index; ++i) {
    if (config_.keys[i].secret != key.secret) continue;
    return wrong(table, "secret",
                 "it has the same secret as key " + in_quotes(config_.keys[i].name));
  }
}

void Checker::price(const PriceConfig& price, std::size_t index) {
  const Table table{"price", index, price.model};
  if (price.model.empty()) wrong(table, "model", "model is missing");
  if (price.input < 0) wrong(table, "input", "input must not be less than 0");
  if (price.output < 0) wrong(table, "output", "output must not be less than 0");
}

void Checker::wire(const UpstreamConfig& upstream, const Table& table) {
  std::vector<std::string_view> known{"script"};
  for (const WireFormat* wire : upstream::all()) known.push_back(wire->name);
  std::string all;
  for (const std::string_view name : known) all.append(all.empty() ? "" : ", ").append(name);
  // Half a name says more than a few equal letters.
  std::string near = suggestion(upstream.wire, known);
  for (const std::string_view name : known) {
    if (!upstream.wire.empty() && name.starts_with(upstream.wire)) {
      near = ", did you mean " + in_quotes(name) + "?";
      break;
    }
  }
  wrong(table, "wire",
        "unknown wire " + in_quotes(upstream.wire) + near + (near.empty() ? ";" : "") +
            " known are " + all);
}

void Checker::address(const UpstreamConfig& upstream, const Table& table) {
  if (upstream.is_scripted()) return;
  if (upstream.is_child()) {
    if (upstream.command.empty()) wrong(table, "command", "command is missing");
    return;
  }
  if (upstream.url.empty()) return wrong(table, "url", "url is missing");
  if (!upstream.url.starts_with("http://") && !upstream.url.starts_with("https://")) {
    return wrong(
        table, "url",
        "url must start with http:// or https://, got " + in_quotes(masked_url(upstream.url)));
  }
  if (const auto target = net::parse_url(upstream.url); !target) {
    wrong(table, "url", "url: " + target.error().message);
  }
}

void Checker::upstream(const UpstreamConfig& upstream, std::size_t index) {
  const Table table{"upstream", index, upstream.name};
  if (upstream.wire == "script") return;
  if (upstream::find(upstream.wire) == nullptr) return wire(upstream, table);
  word(table, "dropped_fields", upstream.dropped_fields, {"warn", "refuse"});
  word(table, "auth", upstream.auth, {"", "bearer", "x-api-key"});
  word(table, "server", upstream.server,
       {"", "vllm", "sglang", "llama_cpp", "ollama", "lm_studio"});
  word(table, "parent_rule", upstream.parent_rule, {"response_id", "created_parent"});
  word(table, "conversation_conflict", upstream.conversation_conflict, {"wait", "refuse"});
  word(table, "conversation_fallback", upstream.conversation_fallback, {"none", "opening"});
  word(table, "codex_tools", upstream.codex_tools, {"hidden", "text", "annotations"});
  word(table, "codex_sandbox", upstream.codex_sandbox,
       {"read-only", "workspace-write", "danger-full-access"});
  const bool over_http = !upstream.is_scripted() && !upstream.is_child();
  const bool has_list = over_http && !upstream::model_list_path(upstream.wire).empty();
  if (!upstream.models.empty() && !has_list) {
    wrong(table, "models", "models: upstreams of this kind list none");
  }
  if (upstream.passthrough && !over_http) {
    wrong(table, "passthrough", "passthrough is for upstreams over HTTP");
  }
  if (!upstream.check.empty() && !upstream.check.starts_with('/')) {
    wrong(table, "check",
          "check: expected a path such as /models, got " + in_quotes(upstream.check));
  }
  const bool fetched = !upstream.key_command.empty() || !upstream.key_file.empty();
  if (fetched && !over_http) {
    wrong(table, "key_command", "key_command and key_file are for upstreams over HTTP");
  }
  if (over_http && !upstream.login_command.empty() && upstream.key_file.empty()) {
    wrong(table, "login_command", "login_command needs key_file, where what it prints is kept");
  }
  const bool given = !upstream.key.empty() && upstream.key.reveal() != kKeyPlaceholder;
  if ((fetched && given) || (!upstream.key_command.empty() && !upstream.key_file.empty())) {
    wrong(table, "key", "key, key_command and key_file: only one of them can be given");
  }
  address(upstream, table);
}

void Checker::pool(const ModelConfig& model, const Table& table) {
  word(table, "balance", model.balance,
       {"round_robin", "least_in_flight", "fastest", "session", "key", "prefix"});
  std::set<std::string_view> seen;
  for (const PoolPlace& place : model.pool) {
    if (place.upstream.empty()) wrong(table, "pool", "pool: upstream is missing");
    if (place.weight < 1 || place.weight > 1000) {
      wrong(table, "pool", "pool: weight: expected 1 to 1000, got " + std::to_string(place.weight));
    }
    if (!seen.insert(place.upstream).second) {
      wrong(table, "pool", "pool: " + in_quotes(place.upstream) + " is in it twice");
    }
  }
}

void Checker::upstream_names(const ModelConfig& model, const Table& table) {
  const bool pattern = is_glob(model.name);
  if (pattern && !model.aliases.empty()) {
    wrong(table, "aliases", "aliases are for one model, and the name is a pattern");
  }
  if (model.upstream.empty() && !(pattern && lists_models(config_))) {
    wrong(table, "upstream", "upstream is missing");
  }
  std::vector<std::string_view> known;
  for (const UpstreamConfig& upstream : config_.upstreams) known.push_back(upstream.name);
  for (const std::string& name : model.upstream) {
    if (config_.find_upstream(name) != nullptr) continue;
    wrong(table, model.pool.empty() ? "upstream" : "pool",
          "there is no [[upstream]] named " + in_quotes(name) + suggestion(name, known));
  }
}

void Checker::model_tools(const ModelConfig& model, const Table& table) {
  word(table, "tools", model.tools, {"native", "text", "prompt"});
  const auto own = dialects_.own();
  const bool is_own = std::find(own.begin(), own.end(), dialects_.find(model.dialect)) != own.end();
  if (model.tools == "prompt" && is_own) {
    wrong(table, "tools",
          "tools = \"prompt\" cannot teach " + in_quotes(model.dialect) +
              ", a dialect of your own; describe it in the system prompt and use tools = "
              "\"text\", or choose a built-in dialect");
  }
  if (model.tools != "text") return;
  if (model.dialect == "native") {
    wrong(table, "dialect",
          "tools = \"text\" needs a dialect that reads calls from text, not native");
  }
  for (const std::string& name : model.upstream) {
    const UpstreamConfig* upstream = config_.find_upstream(name);
    if (upstream == nullptr || can_leave_calls_in_text(upstream->wire)) continue;
    wrong(table, "tools",
          "tools = \"text\" is for upstreams that speak openai_chat or ollama; \"" + name +
              "\" speaks " + upstream->wire + ", use tools = \"prompt\"");
  }
}

bool Checker::is_served(const std::string& name) const {
  return lists_models(config_) ||
         std::any_of(config_.models.begin(), config_.models.end(), [&](const ModelConfig& model) {
           return glob_matches(model.name, name) ||
                  std::find(model.aliases.begin(), model.aliases.end(), name) !=
                      model.aliases.end();
         });
}

void Checker::model(const ModelConfig& model, std::size_t index) {
  const Table table{"model", index, model.name};
  pool(model, table);
  upstream_names(model, table);
  if (!model.dialect.empty() && dialects_.find(model.dialect) == nullptr) {
    std::vector<std::string_view> known;
    for (const Dialect* dialect : dialects_.all()) known.push_back(dialect->name);
    const std::string near = suggestion(model.dialect, known);
    wrong(table, "dialect",
          "unknown dialect " + in_quotes(model.dialect) +
              (near.empty() ? "; `callgate dialects` lists them" : near));
  }
  if (!model.title_model.empty() && !is_served(model.title_model)) {
    wrong(table, "title_model",
          "title_model: there is no [[model]] named " + in_quotes(model.title_model));
  }
  word(table, "commit", model.commit, {"", "eager", "whole_call"});
  model_tools(model, table);
  word(table, "system", model.system, {"pass", "drop", "first"});
  word(table, "replayed_tools", model.replayed_tools, {"pass", "strip", "reject"});
  word(table, "upstream_call_ids", model.upstream_call_ids, {"", "any", "kimi", "mistral"});
  if (auto policy = to_policy(model); !policy) {
    const std::string& message = policy.error().message;
    wrong(table, message.substr(0, message.find(' ')), message);
  }
}

void Checker::aliases() {
  std::set<std::string_view> names;
  for (const ModelConfig& model : config_.models) names.insert(model.name);
  for (std::size_t i = 0; i < config_.models.size(); ++i) {
    for (const std::string& alias : config_.models[i].aliases) {
      if (names.insert(alias).second) continue;
      wrong({"model", i, config_.models[i].name}, "aliases",
            "another model is already called " + in_quotes(alias));
    }
  }
}

// Of tools and hooks each is made by itself, so that each says what is wrong with it.
void Checker::tools() {
  names(config_.tools, "tool");
  for (std::size_t i = 0; i < config_.tools.size(); ++i) {
    const ToolTable& tool = config_.tools[i];
    const bool taken = tool.name == loop::kReadResult || tool.name == loop::kFindTools;
    // The loop answers calls of these names by itself, so a tool of that name would never be called.
    if (tool.kind != "mcp" && taken) {
      wrong({"tool", i, tool.name}, "name",
            "the tool loop has a tool of its own with this name; choose another name");
    }
    Config alone;
    alone.tools.push_back(tool);
    if (auto made = to_tool_set(alone); !made) {
      const std::string where =
          tool.skill.empty() ? "tool[" + std::to_string(i) + "]" : "loop.skills";
      wrong(where, made.error().message);
    }
  }
}

void Checker::dialects() {
  names(config_.dialects, "dialect");
  if (config_.dialects.size() > dialect::kMaxDefinitions) {
    wrong("dialect[" + std::to_string(dialect::kMaxDefinitions) + "]",
          "dialect: expected at most " + std::to_string(dialect::kMaxDefinitions) + ", got " +
              std::to_string(config_.dialects.size()));
  }
  for (std::size_t i = 0; i < config_.dialects.size(); ++i) {
    for (const dialect::Flaw& flaw : dialect::find_flaws(config_.dialects[i])) {
      wrong({"dialect", i, config_.dialects[i].name}, flaw.key, flaw.message);
    }
  }
}

void Checker::hooks() {
  names(config_.hooks, "hook");
  for (std::size_t i = 0; i < config_.hooks.size(); ++i) {
    Config alone;
    alone.hooks.push_back(config_.hooks[i]);
    if (auto made = to_tool_set(alone); !made) {
      wrong("hook[" + std::to_string(i) + "]", made.error().message);
    }
  }
}

}  // namespace

std::vector<Mistake> find_mistakes(const Config& config) { return Checker(config).run(); }

Result<void> check_config(const Config& config) {
  const std::vector<Mistake> mistakes = find_mistakes(config);
  if (mistakes.empty()) return {};
  return fail(ErrorCode::invalid_request, mistakes.front().message);
}

bool serves_anything(const Config& config) {
  return !config.models.empty() || lists_models(config);
}

}  // namespace callgate::server
