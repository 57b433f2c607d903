#include "config/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "base/masked_url.h"
#include "base/quoted.h"
#include "callgate/dialect.h"
#include "client/protocol.h"
#include "config/config_fields.h"
#include "config/config_text.h"
#include "config/server_kind.h"
#include "config/tool_config.h"
#include "json/writer.h"
#include "loop/evicted_results.h"
#include "loop/tool_set.h"
#include "net/url.h"
#include "store/request_log.h"
#include "upstream/model_list.h"
#include "upstream/wire_format.h"

namespace callgate::server {
namespace {

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_request, std::move(message));
}

template <class List>
Result<void> check_names(const List& list, std::string_view what) {
  std::set<std::string_view> seen;
  for (const auto& item : list) {
    if (item.name.empty()) return wrong("every [[" + std::string(what) + "]] needs a name");
    if (!seen.insert(item.name).second) {
      return wrong("two [[" + std::string(what) + "]] are named \"" + item.name + "\"");
    }
  }
  return {};
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<void> check_upstream(const UpstreamConfig& upstream) {
  if (upstream.wire == "script") return {};
  if (upstream::find(upstream.wire) == nullptr) {
    std::vector<std::string_view> known{"script"};
    for (const WireFormat* wire : upstream::all()) known.push_back(wire->name);
    return wrong("upstream \"" + upstream.name + "\": unknown wire " + in_quotes(upstream.wire) +
                 suggestion(upstream.wire, known));
  }
  if (!is_one_of(upstream.dropped_fields, {"warn", "refuse"})) {
    return wrong("upstream \"" + upstream.name + "\": dropped_fields must be warn or refuse");
  }
  if (!is_one_of(upstream.auth, {"", "bearer", "x-api-key"})) {
    return wrong("upstream \"" + upstream.name + "\": auth must be bearer or x-api-key");
  }
  if (!upstream.server.empty() && find_server_kind(upstream.server) == nullptr) {
    return wrong("upstream \"" + upstream.name + "\": server must be vllm, sglang, llama_cpp, " +
                 "ollama or lm_studio");
  }
  if (!is_one_of(upstream.parent_rule, {"response_id", "created_parent"})) {
    return wrong("upstream \"" + upstream.name +
                 "\": parent_rule must be response_id or created_parent");
  }
  if (!is_one_of(upstream.conversation_conflict, {"wait", "refuse"})) {
    return wrong("upstream \"" + upstream.name +
                 "\": conversation_conflict must be wait or refuse");
  }
  if (!is_one_of(upstream.conversation_fallback, {"none", "opening"})) {
    return wrong("upstream \"" + upstream.name +
                 "\": conversation_fallback must be none or opening");
  }
  if (!is_one_of(upstream.codex_tools, {"hidden", "text", "annotations"})) {
    return wrong("upstream \"" + upstream.name +
                 "\": codex_tools must be hidden, text or annotations");
  }
  if (!is_one_of(upstream.codex_sandbox, {"read-only", "workspace-write", "danger-full-access"})) {
    return wrong("upstream \"" + upstream.name +
                 "\": codex_sandbox must be read-only, workspace-write or danger-full-access");
  }
  const bool over_http = !upstream.is_scripted() && !upstream.is_child();
  if (!upstream.models.empty() &&
      (!over_http || upstream::model_list_path(upstream.wire).empty())) {
    return wrong("upstream \"" + upstream.name + "\": models: upstreams of this kind list none");
  }
  if (upstream.passthrough && !over_http) {
    return wrong("upstream \"" + upstream.name + "\": passthrough is for upstreams over HTTP");
  }
  if (upstream.is_scripted()) return {};
  if (upstream.is_child()) {
    if (!upstream.command.empty()) return {};
    return wrong("upstream \"" + upstream.name + "\": command is missing");
  }
  if (!upstream.url.starts_with("http://") && !upstream.url.starts_with("https://")) {
    return wrong("upstream \"" + upstream.name + "\": url must start with http:// or https://");
  }
  if (const auto target = net::parse_url(upstream.url); !target) {
    return wrong("upstream \"" + upstream.name + "\": url: " + target.error().message);
  }
  return {};
}

Result<void> check_tools(const Config& config, const ModelConfig& model) {
  if (!is_one_of(model.tools, {"native", "text", "prompt"})) {
    return wrong("tools must be native, text or prompt");
  }
  if (model.tools != "text") return {};
  if (model.dialect == "native") {
    return wrong("tools = \"text\" needs a dialect that reads calls from text, not native");
  }
  for (const std::string& name : model.upstream) {
    const UpstreamConfig& upstream = *config.find_upstream(name);
    if (!can_leave_calls_in_text(upstream.wire)) {
      return wrong("tools = \"text\" is for upstreams that speak openai_chat or ollama; \"" + name +
                   "\" speaks " + upstream.wire + ", use tools = \"prompt\"");
    }
  }
  return {};
}

bool serves_lists(const Config& config) {
  return std::any_of(config.upstreams.begin(), config.upstreams.end(),
                     [](const UpstreamConfig& upstream) {
                       return !upstream.models.empty() || upstream.passthrough;
                     });
}

// A table whose name is a pattern is for models that upstreams list, or for any name that fits.
Result<void> check_pattern(const Config& config, const ModelConfig& model) {
  const bool is_pattern = model.name.find_first_of("*?") != std::string::npos;
  if (is_pattern && !model.aliases.empty()) {
    return wrong("aliases are for one model, and the name is a pattern");
  }
  if (model.upstream.empty() && !(is_pattern && serves_lists(config))) {
    return wrong("upstream is missing");
  }
  return {};
}

Result<void> check_pool(const ModelConfig& model) {
  if (!is_one_of(model.balance,
                 {"round_robin", "least_in_flight", "fastest", "session", "key", "prefix"})) {
    return wrong("balance must be round_robin, least_in_flight, fastest, session, key or prefix");
  }
  std::set<std::string_view> seen;
  for (const PoolPlace& place : model.pool) {
    if (place.upstream.empty()) return wrong("pool: upstream is missing");
    if (place.weight < 1 || place.weight > 1000) return wrong("pool: weight: expected 1 to 1000");
    if (!seen.insert(place.upstream).second) {
      return wrong("pool: \"" + place.upstream + "\" is in it twice");
    }
  }
  return {};
}

Result<void> check_model(const Config& config, const ModelConfig& model) {
  const std::string where = "model \"" + model.name + "\": ";
  if (auto pool = check_pool(model); !pool) return wrong(where + pool.error().message);
  if (auto name = check_pattern(config, model); !name) return wrong(where + name.error().message);
  for (const std::string& name : model.upstream) {
    if (config.find_upstream(name) == nullptr) {
      return wrong(where + "there is no [[upstream]] named \"" + name + "\"");
    }
  }
  if (!model.dialect.empty() && dialect::find(model.dialect) == nullptr) {
    std::vector<std::string_view> known;
    for (const Dialect* dialect : dialect::all()) known.push_back(dialect->name);
    return wrong(where + "unknown dialect " + in_quotes(model.dialect) +
                 suggestion(model.dialect, known));
  }
  if (!is_one_of(model.commit, {"", "eager", "whole_call"})) {
    return wrong(where + "commit must be eager or whole_call");
  }
  if (auto tools = check_tools(config, model); !tools) return wrong(where + tools.error().message);
  if (!is_one_of(model.system, {"pass", "drop", "first"})) {
    return wrong(where + "system must be pass, drop or first");
  }
  if (!is_one_of(model.upstream_call_ids, {"", "any", "kimi", "mistral"})) {
    return wrong(where + "upstream_call_ids must be any, kimi or mistral");
  }
  if (auto policy = to_policy(model); !policy) return wrong(where + policy.error().message);
  return {};
}

// The loop answers calls of these names by itself, so a tool of that name would never be called.
Result<void> check_tool_names(const std::vector<ToolTable>& tools) {
  for (const ToolTable& tool : tools) {
    if (tool.kind == "mcp" || !is_one_of(tool.name, {loop::kReadResult, loop::kFindTools})) {
      continue;
    }
    return wrong("tool \"" + tool.name +
                 "\": the tool loop has a tool of its own with this name; choose another name");
  }
  return {};
}

Result<void> check_aliases(const Config& config) {
  std::set<std::string_view> names;
  for (const ModelConfig& model : config.models) names.insert(model.name);
  for (const ModelConfig& model : config.models) {
    for (const std::string& alias : model.aliases) {
      if (!names.insert(alias).second) {
        return wrong("model \"" + model.name + "\": another model is already called \"" + alias +
                     "\"");
      }
    }
  }
  return {};
}

Result<void> check_otlp(const OtlpConfig& otlp) {
  const bool is_url = otlp.endpoint.starts_with("http://") || otlp.endpoint.starts_with("https://");
  if (!otlp.endpoint.empty() && !is_url) {
    return wrong("otlp.endpoint must start with http:// or https://");
  }
  if (!otlp.endpoint.empty()) {
    const auto target = net::parse_url(otlp.endpoint);
    if (!target) return wrong("otlp.endpoint: " + target.error().message);
  }
  if (otlp.batch == 0 || otlp.batch > otlp.queue) {
    return wrong("otlp.batch: expected 1 to otlp.queue");
  }
  if (otlp.interval.count() == 0 || otlp.timeout.count() == 0) {
    return wrong("otlp.interval and otlp.timeout must be longer than 0");
  }
  if (!(otlp.sample_ratio >= 0 && otlp.sample_ratio <= 1)) {
    return wrong("otlp.sample_ratio: expected 0 to 1");
  }
  return {};
}

Result<void> check_listeners(const Config& config) {
  if (config.listen.empty()) return wrong("listen: at least one address is needed");
  if (config.tls.cert.empty() != config.tls.key.empty()) {
    return wrong("tls: cert and key belong together");
  }
  for (const std::string& text : config.listen) {
    const auto address = parse_listen(text);
    if (!address) return tl::unexpected(address.error());
    const auto endpoint = net::parse_endpoint(text.starts_with(':') ? "0.0.0.0" + text : text);
    if (!endpoint) return wrong("listen " + endpoint.error().message);
    if (config.keys.empty() && !config.allow_open && !address->is_loopback()) {
      return wrong(
          "listen \"" + text +
          "\": an open gateway is allowed on loopback only; add a [[key]], or set allow_open");
    }
  }
  return {};
}

}  // namespace

const UpstreamConfig* Config::find_upstream(std::string_view name) const {
  const auto found = std::find_if(upstreams.begin(), upstreams.end(),
                                  [&](const UpstreamConfig& u) { return u.name == name; });
  return found == upstreams.end() ? nullptr : &*found;
}

const ModelConfig* Config::find_model(std::string_view name) const {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const ModelConfig& m) { return m.name == name; });
  return found == models.end() ? nullptr : &*found;
}

Result<PolicyOptions> to_policy(const ModelConfig& model) {
  struct Word {
    std::string_view key;
    std::string_view value;
    std::string_view expected;
  };
  const Word words[] = {
      {"stop_after_tools", model.stop_after_tools, "off, first or burst"},
      {"undeclared_tools", model.undeclared_tools, "pass, text or drop_with_note"},
      {"invalid_arguments", model.invalid_arguments, "pass, repair or raw"},
      {"reasoning", model.reasoning, "reasoning_content, reasoning, think_tags or hide"},
      {"call_id_style", model.call_id_style, "native or random"},
      {"output", model.output, "tool_calls, json, xml or xml_only"},
      {"error_after_tools", model.error_after_tools, "report or tool_calls"},
      {"split", model.split, "none or sentences"},
  };
  PolicyOptions options;
  for (const Word& word : words) {
    if (set_policy(options, word.key, word.value)) continue;
    return wrong(std::string(word.key) + " must be " + std::string(word.expected));
  }
  options.suppress_tail_after_tools = model.suppress_tail_after_tools;
  options.tool_call_max = static_cast<std::uint32_t>(
      std::min<std::int64_t>(model.tool_call_max, std::numeric_limits<std::uint32_t>::max()));
  options.call_whitespace = model.call_whitespace;
  options.dedupe_calls = model.dedupe_calls;
  options.estimate_usage = model.estimate_usage;
  options.trailing_counters = model.trailing_counters;
  options.split_min_characters = static_cast<std::uint32_t>(std::min<std::int64_t>(
      model.split_min_characters, std::numeric_limits<std::uint32_t>::max()));
  constexpr std::uint64_t kUnlimitedPiece = 64 << 10;
  constexpr std::uint64_t kLargestPiece = 1 << 20;
  std::uint64_t piece = model.reasoning_coalesce_bytes.count;
  if (piece == 0 && model.reasoning_coalesce.count() > 0) piece = kUnlimitedPiece;
  options.reasoning_coalesce_bytes = static_cast<std::uint32_t>(std::min(piece, kLargestPiece));
  return options;
}

std::vector<PoolPlace> places_of(const ModelConfig& model) {
  if (!model.pool.empty()) return model.pool;
  std::vector<PoolPlace> places;
  for (const std::string& name : model.upstream) {
    places.push_back({.upstream = name, .priority = static_cast<std::int64_t>(places.size())});
  }
  return places;
}

bool serves_anything(const Config& config) {
  return !config.models.empty() || serves_lists(config);
}

std::vector<std::string> deprecations(const Config& config) {
  std::vector<std::string> notices;
  if (config.store.overflow == "block") {
    notices.emplace_back(
        "store.overflow = \"block\" is deprecated and means \"shed\": no request waits for the "
        "store");
  }
  if (config.store.block_for.count() != 0) {
    notices.emplace_back(
        "store.block_for is deprecated and has no effect: no request waits for the store");
  }
  return notices;
}

Result<void> check_config(const Config& config) {
  if (auto ok = check_names(config.keys, "key"); !ok) return ok;
  if (auto ok = check_names(config.upstreams, "upstream"); !ok) return ok;
  if (auto ok = check_names(config.models, "model"); !ok) return ok;
  if (auto ok = check_aliases(config); !ok) return ok;
  for (const KeyConfig& key : config.keys) {
    if (key.secret.empty()) return wrong("key \"" + key.name + "\": secret is missing or empty");
  }
  for (const UpstreamConfig& upstream : config.upstreams) {
    if (auto ok = check_upstream(upstream); !ok) return ok;
  }
  for (const ModelConfig& model : config.models) {
    if (auto ok = check_model(config, model); !ok) return ok;
  }
  if (!is_one_of(config.log.level, {"debug", "info", "warning", "error", "off"})) {
    return wrong("log.level must be debug, info, warning, error or off");
  }
  if (!is_one_of(config.log.format, {"text", "json"}))
    return wrong("log.format must be text or json");
  if (!is_one_of(config.metrics, {"open", "key", "admin"})) {
    return wrong("metrics must be open, key or admin");
  }
  if (!is_one_of(config.store.synchronous, {"normal", "full"})) {
    return wrong("store.synchronous must be normal or full");
  }
  if (!is_one_of(config.store.when_down, {"open", "closed"})) {
    return wrong("store.when_down must be open or closed");
  }
  if (!is_one_of(config.store.overflow, {"block", "shed"})) {
    return wrong("store.overflow must be shed or block");
  }
  if (auto ok = store::check_url(config.store.url); !ok) return ok;
  if (!config.capture.models.empty() && config.capture.dir.empty()) {
    return wrong("capture.models: capture.dir is not set");
  }
  if (auto ok = check_otlp(config.otlp); !ok) return ok;
  if (auto ok = check_names(config.tools, "tool"); !ok) return ok;
  if (auto ok = check_tool_names(config.tools); !ok) return ok;
  if (auto ok = check_names(config.hooks, "hook"); !ok) return ok;
  if (auto made = to_tool_set(config); !made) return tl::unexpected(made.error());
  if (auto made = to_loop_options(config.loop); !made) return tl::unexpected(made.error());
  if (config.threads > 256) return wrong("threads: expected at most 256");
  return check_listeners(config);
}

bool ListenAddress::is_loopback() const {
  return !unix_path.empty() || host.starts_with("127.") || host == "::1" || host == "localhost";
}

Result<ListenAddress> parse_listen(std::string_view text) {
  ListenAddress address;
  if (text.starts_with("unix:")) {
    address.unix_path = text.substr(5);
    if (address.unix_path.empty()) return wrong("listen \"unix:\": expected a path");
    return address;
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || fault != std::errc() || end != port.data() + port.size()) {
    return wrong("listen \"" + std::string(text) + "\": expected host:port or unix:/path");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host.empty() ? "0.0.0.0" : std::string(host);
  return address;
}

namespace {

void print_value(std::string& out, const std::string& value) { json::append_string(out, value); }
void print_value(std::string& out, const Secret& value) { json::append_string(out, value.mask()); }
void print_value(std::string& out, bool value) { out += value ? "true" : "false"; }
void print_value(std::string& out, std::int64_t value) { json::append_integer(out, value); }
void print_value(std::string& out, double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}
void print_value(std::string& out, Milliseconds value) {
  json::append_string(out, print_duration(value));
}
void print_value(std::string& out, Bytes value) { json::append_string(out, print_bytes(value)); }
void print_value(std::string& out, const std::vector<std::string>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    json::append_string(out, values[i]);
  }
  out += ']';
}
void print_value(std::string& out, const std::vector<PoolPlace>& places) {
  out += '[';
  for (std::size_t i = 0; i < places.size(); ++i) {
    out += i > 0 ? ", { upstream = " : "{ upstream = ";
    json::append_string(out, places[i].upstream);
    out += ", priority = " + std::to_string(places[i].priority);
    out += ", weight = " + std::to_string(places[i].weight) + " }";
  }
  out += ']';
}
void print_value(std::string& out, const JsonMembers& value) {
  out += "{ ";
  for (std::size_t i = 0; i < value.members.size(); ++i) {
    if (i > 0) out += ", ";
    json::append_string(out, value.members[i].name);
    out += " = " + value.members[i].value.text;
  }
  out += " }";
}
// Header values may hold credentials: only names are shown.
void print_value(std::string& out, const std::vector<std::pair<std::string, std::string>>& values) {
  out += "{ ";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    json::append_string(out, values[i].first);
    out += " = \"***\"";
  }
  out += " }";
}

// Without what may be a secret.
template <class T>
T masked(T section) {
  if constexpr (requires { section.url; }) section.url = masked_url(section.url);
  if constexpr (requires { section.endpoint; }) section.endpoint = masked_url(section.endpoint);
  if constexpr (requires { section.command; }) section.command = masked_command(section.command);
  return section;
}

template <class T>
void print_section(std::string& out, const T& given) {
  const T section = masked(given);
  std::apply(
      [&](const auto&... field) {
        ((out.append(field.key).append(" = "), print_value(out, section.*(field.member)),
          out += '\n'),
         ...);
      },
      Section<T>::fields);
}

template <class T>
void print_table(std::string& out, const T& section) {
  out.append("\n[").append(Section<T>::name).append("]\n");
  print_section(out, section);
}

template <class T>
void print_list(std::string& out, const std::vector<T>& list) {
  for (const T& item : list) {
    out.append("\n[[").append(Section<T>::name).append("]]\n");
    print_section(out, item);
  }
}

}  // namespace

std::string print_config(const Config& config) {
  std::string out;
  print_section(out, config);
  print_table(out, config.tls);
  print_table(out, config.limits);
  print_table(out, config.log);
  print_table(out, config.cors);
  print_table(out, config.store);
  print_table(out, config.capture);
  print_table(out, config.otlp);
  print_table(out, config.loop);
  print_table(out, config.rooms);
  print_table(out, config.responses);
  print_list(out, config.tools);
  print_list(out, config.hooks);
  print_list(out, config.keys);
  print_list(out, config.upstreams);
  print_list(out, config.models);
  return out;
}

bool listens_on_loopback_only(const Config& config) {
  return std::all_of(config.listen.begin(), config.listen.end(), [](const std::string& text) {
    const auto address = parse_listen(text);
    return address && address->is_loopback();
  });
}

}  // namespace callgate::server
