#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/glob.h"
#include "base/quoted.h"
#include "capture/secret_mask.h"
#include "config/mistakes.h"
#include "json/member.h"
#include "net/sandbox.h"
#include "net/tls.h"
#include "net/url.h"

namespace callgate::server {
namespace {

namespace fs = std::filesystem;

std::string at(std::string_view section, std::size_t index, std::string_view key) {
  return std::string(section) + "[" + std::to_string(index) + "]." + std::string(key);
}

// Why a file cannot be read; empty: it can be.
std::string file_problem(const std::string& path) {
  std::error_code fault;
  const auto status = fs::status(path, fault);
  if (fault) return path + ": " + fault.message();
  if (fs::is_directory(status)) return path + ": it is a folder";
  if (::access(path.c_str(), R_OK) != 0) return path + ": may not be read";
  return {};
}

// `folder`: where it will run.
bool is_program(const std::string& name, const std::string& folder) {
  if (name.find('/') != std::string::npos) {
    const bool relative = name[0] != '/' && !folder.empty();
    return ::access((relative ? folder + "/" + name : name).c_str(), X_OK) == 0;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string file = std::string(folders.substr(0, end)) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return true;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

class Files {
 public:
  void tls(const TlsConfig& tls) {
    if (tls.cert.empty() || tls.key.empty()) return;
    const std::size_t before = found_.size();
    readable("tls.cert", tls.cert);
    readable("tls.key", tls.key);
    if (found_.size() > before) return;
    const auto made = net::make_server_tls(tls.cert, tls.key);
    if (!made) add("tls.cert", "tls: " + made.error().message);
  }
  void readable(std::string path, const std::string& file) {
    if (file.empty()) return;
    const std::string problem = file_problem(file);
    if (!problem.empty()) add(std::move(path), problem);
  }
  void program(std::string path, const std::vector<std::string>& command,
               const std::string& folder = {}) {
    if (command.empty() || is_program(command.front(), folder)) return;
    const bool one_string = command.size() == 1 && command[0].find(' ') != std::string::npos;
    add(std::move(path), "there is no program " + in_quotes(command.front()) +
                             (one_string ? "; write command = [\"program\", \"argument\"]" : ""));
  }
  void sandbox(std::string path, const ToolTable& tool) {
    if (tool.kind != "command" || !tool.sandbox) return;
    const auto fault =
        net::sandbox_fault({.writable = tool.sandbox_writable, .network = tool.sandbox_network});
    if (!fault.empty()) add(std::move(path), "tool \"" + tool.name + "\": " + fault);
  }
  void add(std::string path, std::string message) {
    found_.push_back({.path = std::move(path), .message = std::move(message)});
  }
  std::vector<Mistake> take() { return std::move(found_); }

 private:
  std::vector<Mistake> found_;
};

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
  void url_arguments(const ToolTable& tool, std::size_t i);

  const Config& config_;
  std::vector<Mistake> found_;
};

void Oddities::key(const KeyConfig& key, std::size_t i) {
  const std::string who = "key \"" + key.name + "\": ";
  if (!key.secret.empty() && !is_long_enough_for_a_secret(key.secret.reveal())) {
    add(at("key", i, "secret"), who + "its secret is short enough to be guessed");
  }
  const bool lists = std::any_of(config_.upstreams.begin(), config_.upstreams.end(),
                                 [](const auto& upstream) { return !upstream.models.empty(); });
  for (const std::string& pattern : key.models) {
    const bool fits =
        std::any_of(config_.models.begin(), config_.models.end(), [&](const ModelConfig& model) {
          return glob_matches(pattern, model.name) || glob_matches(model.name, pattern) ||
                 std::any_of(model.aliases.begin(), model.aliases.end(),
                             [&](const auto& alias) { return glob_matches(pattern, alias); });
        });
    if (!fits && !lists) {
      add(at("key", i, "models"), who + "models: " + in_quotes(pattern) + " matches no model");
    }
  }
  const bool has_servers = std::any_of(config_.tools.begin(), config_.tools.end(),
                                       [](const auto& tool) { return tool.kind == "mcp"; });
  for (const std::string& pattern : key.deny_tools) {
    const bool fits =
        std::any_of(config_.tools.begin(), config_.tools.end(),
                    [&](const auto& tool) { return glob_matches(pattern, tool.name); });
    if (!fits && !has_servers) {
      add(at("key", i, "deny_tools"),
          who + "deny_tools: " + in_quotes(pattern) + " matches no tool");
    }
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
    return add(at("upstream", i, "url"), who + "should end before " + std::string(endpoint));
  }
  if (upstream.wire == "ollama" && has_version) {
    add(at("upstream", i, "url"),
        who + "should end before /v1: wire = \"ollama\" is Ollama's own API");
  } else if (upstream.wire == "gemini" && !has_version) {
    add(at("upstream", i, "url"), who + "may lack /v1beta");
  } else if (upstream.wire != "ollama" && upstream.wire != "qwen_web" && !has_version) {
    add(at("upstream", i, "url"), who + "may lack /v1");
  }
}

void Oddities::tool(const ToolTable& tool, std::size_t i) {
  const std::string who = "tool \"" + tool.name + "\": ";
  const auto is_odd = [](char c) {
    return !(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-');
  };
  if (tool.kind != "mcp" && std::any_of(tool.name.begin(), tool.name.end(), is_odd)) {
    add(at("tool", i, "name"),
        who + "most models take letters, digits, _ and - in names of tools only");
  }
  const bool described = tool.kind == "mcp" || tool.kind == "builtin" ||
                         tool.kind == "web_search" || !tool.description.empty();
  if (!described) add(at("tool", i, "name"), who + "without a description a model can only guess");
  if (tool.kind == "http") url_arguments(tool, i);
  if (tool.kind != "http" && tool.kind != "web_search") return;
  const bool loopback = tool.url.starts_with("http://127.") ||
                        tool.url.starts_with("http://localhost") ||
                        tool.url.starts_with("http://[::1]");
  if (loopback && tool.addresses.empty()) {
    add(at("tool", i, "url"),
        who + "calls to this machine are refused; allow them with addresses = [\"127.0.0.0/8\"]");
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
    add(at("tool", i, "url"), who + "url: unknown parameter " + in_quotes(name));
  }
}

std::vector<Mistake> Oddities::run() {
  for (std::size_t i = 0; i < config_.tools.size(); ++i) tool(config_.tools[i], i);
  for (std::size_t i = 0; i < config_.keys.size(); ++i) key(config_.keys[i], i);
  for (std::size_t i = 0; i < config_.upstreams.size(); ++i) upstream(config_.upstreams[i], i);
  rooms();
  return std::move(found_);
}

}  // namespace

std::vector<Mistake> find_missing_files(const Config& config) {
  Files files;
  files.tls(config.tls);
  files.readable("otlp.ca_file", config.otlp.ca_file);
  if (!config.capture.dir.empty() && !fs::is_directory(config.capture.dir)) {
    files.add("capture.dir", config.capture.dir + ": there is no such folder");
  }
  for (std::size_t i = 0; i < config.tools.size(); ++i) {
    const ToolTable& tool = config.tools[i];
    const auto key = [&](std::string_view name) {
      return tool.skill.empty() ? at("tool", i, name) : std::string("loop.skills");
    };
    files.readable(key("ca_file"), tool.ca_file);
    files.program(key("command"), tool.command, tool.folder);
    files.sandbox(key("sandbox"), tool);
  }
  for (std::size_t i = 0; i < config.hooks.size(); ++i) {
    files.readable(at("hook", i, "ca_file"), config.hooks[i].ca_file);
  }
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const UpstreamConfig& upstream = config.upstreams[i];
    files.readable(at("upstream", i, "ca_file"), upstream.ca_file);
    if (upstream.is_child()) files.program(at("upstream", i, "command"), upstream.command);
    if (upstream.url.starts_with("script:") && upstream.url.size() > 7) {
      files.readable(at("upstream", i, "url"), upstream.url.substr(7));
    }
  }
  return files.take();
}

std::vector<Mistake> find_oddities(const Config& config) { return Oddities(config).run(); }

}  // namespace callgate::server
