#include <algorithm>

#include "base/quoted.h"
#include "capture/secret_mask.h"
#include "config/mistakes.h"
#include "json/member.h"
#include "net/url.h"

namespace callgate::server {
namespace {

constexpr std::string_view kRefused =
    "calls to this machine are refused; allow them with addresses = [\"127.0.0.0/8\"]";

bool is_on_this_machine(std::string_view url) {
  if (url.starts_with("https://")) url.remove_prefix(8);
  if (url.starts_with("http://")) url.remove_prefix(7);
  return url.starts_with("127.") || url.starts_with("localhost") || url.starts_with("[::1]");
}

class Oddities {
 public:
  explicit Oddities(const Config& config) : config_(config) {}
  std::vector<Mistake> run();

 private:
  void add(std::string path, std::string message) {
    found_.push_back({.path = std::move(path), .message = std::move(message), .warning = true});
  }
  void key(const KeyConfig& key, std::size_t i);
  void rooms();
  void upstream(const UpstreamConfig& upstream, std::size_t i);
  void tool(const ToolTable& tool, std::size_t i);
  void hook(const HookTable& hook, std::size_t i);
  void url_arguments(const ToolTable& tool, std::size_t i);

  const Config& config_;
  std::vector<Mistake> found_;
};

void Oddities::key(const KeyConfig& key, std::size_t i) {
  const std::string who = "key \"" + key.name + "\": ";
  if (!key.secret.empty() && !is_long_enough_for_a_secret(key.secret.reveal())) {
    add(path_of("key", i, "secret"), who + "its secret is short enough to be guessed");
  }
}

void Oddities::rooms() {
  const bool shared = config_.store.url.starts_with("postgres");
  const std::string& address = config_.rooms.advertise;
  if (!shared && !address.empty() && address != "off") {
    add("rooms.advertise",
        "rooms.advertise: gateways share rooms on one PostgreSQL only, and store.url is another");
  }
  // A gateway that listens on loopback alone does not belong to a fleet.
  if (!shared || address == "off" || listens_on_loopback_only(config_)) return;
  if (room_address(config_).empty()) {
    add("rooms.advertise",
        "rooms.advertise: missing, so each gateway has rooms of its own; listen does not say where "
        "others reach this one, set http://HOST:PORT, or off");
  }
}

void Oddities::upstream(const UpstreamConfig& upstream, std::size_t i) {
  const auto target = net::parse_url(upstream.url);
  if (!target || upstream.is_scripted() || upstream.is_child()) return;
  const std::string who = "upstream \"" + upstream.name + "\": its URL ";
  const std::string_view path = target->path_prefix;
  const bool has_version = path.find("/v") != std::string_view::npos;
  for (const std::string_view endpoint :
       {"/chat/completions", "/completions", "/responses", "/messages", "/api/chat"}) {
    if (!path.ends_with(endpoint)) continue;
    return add(path_of("upstream", i, "url"), who + "should end before " + std::string(endpoint));
  }
  if (upstream.wire == "ollama" && has_version) {
    add(path_of("upstream", i, "url"),
        who + "should end before /v1: wire = \"ollama\" is Ollama's own API");
  } else if (upstream.wire == "gemini" && !has_version) {
    add(path_of("upstream", i, "url"), who + "may lack /v1beta");
  } else if (upstream.wire != "ollama" && upstream.wire != "qwen_web" && !has_version) {
    add(path_of("upstream", i, "url"), who + "may lack /v1");
  }
}

void Oddities::tool(const ToolTable& tool, std::size_t i) {
  const std::string who = "tool \"" + tool.name + "\": ";
  const auto is_odd = [](char c) {
    return !(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-');
  };
  if (tool.kind != "mcp" && std::any_of(tool.name.begin(), tool.name.end(), is_odd)) {
    add(path_of("tool", i, "name"),
        who + "most models take letters, digits, _ and - in names of tools only");
  }
  const bool described = tool.kind == "mcp" || tool.kind == "builtin" ||
                         tool.kind == "web_search" || !tool.description.empty();
  if (!described)
    add(path_of("tool", i, "name"), who + "without a description a model can only guess");
  if (tool.kind == "http") url_arguments(tool, i);
  if (is_on_this_machine(tool.url) && tool.addresses.empty()) {
    add(path_of("tool", i, "url"), who + std::string(kRefused));
  }
}

void Oddities::hook(const HookTable& hook, std::size_t i) {
  if (is_on_this_machine(hook.url) && hook.addresses.empty()) {
    add(path_of("hook", i, "url"), "hook \"" + hook.name + "\": " + std::string(kRefused));
  }
}

void Oddities::url_arguments(const ToolTable& tool, std::size_t i) {
  const std::string who = "tool \"" + tool.name + "\": ";
  std::string properties;
  for (const ExtraField& member : tool.parameters.members) {
    if (member.name == "properties") properties = member.value.text;
  }
  for (std::size_t open = tool.url.find('{'); open != std::string::npos;
       open = tool.url.find('{', open + 1)) {
    const std::size_t close = tool.url.find('}', open);
    if (close == std::string::npos) break;
    const std::string name = tool.url.substr(open + 1, close - open - 1);
    if (!json::member_json(properties, name).empty()) continue;
    add(path_of("tool", i, "url"), who + "url: unknown parameter " + in_quotes(name));
  }
}

std::vector<Mistake> Oddities::run() {
  for (std::size_t i = 0; i < config_.tools.size(); ++i) tool(config_.tools[i], i);
  for (std::size_t i = 0; i < config_.hooks.size(); ++i) hook(config_.hooks[i], i);
  for (std::size_t i = 0; i < config_.keys.size(); ++i) key(config_.keys[i], i);
  for (std::size_t i = 0; i < config_.upstreams.size(); ++i) upstream(config_.upstreams[i], i);
  rooms();
  add_idle_patterns(config_, found_);
  return std::move(found_);
}

}  // namespace

std::vector<Mistake> find_oddities(const Config& config) { return Oddities(config).run(); }

}  // namespace callgate::server
