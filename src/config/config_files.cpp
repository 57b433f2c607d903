// What a configuration names on this machine: files, folders, programs.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/quoted.h"
#include "config/mistakes.h"
#include "net/sandbox.h"
#include "net/tls.h"

namespace callgate::server {
namespace {

namespace fs = std::filesystem;

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
  // It may be made before it is used: a service manager does that.
  void folder(std::string path, const std::string& name) {
    if (name.empty() || fs::is_directory(name)) return;
    warn(std::move(path), name + ": there is no such folder");
  }
  // Of a file that will be made.
  void folder_of(std::string path, const std::string& file) {
    folder(std::move(path), fs::path(file).parent_path().string());
  }
  void store(const StoreConfig& store) {
    constexpr std::string_view kSqlite = "sqlite:";
    if (store.url.starts_with(kSqlite) && store.url != "sqlite::memory:") {
      folder_of("store.url", store.url.substr(kSqlite.size()));
    }
    if (store.url != "none" && !store.journal.empty()) folder_of("store.journal", store.journal);
  }
  // It may come later: the gateway reads it when it needs it.
  void key_file(const UpstreamConfig& upstream, std::size_t i) {
    const std::string problem = upstream.key_file.empty() ? "" : file_problem(upstream.key_file);
    if (problem.empty()) return;
    warn(path_of("upstream", i, "key_file"),
         "key_file: " + problem + "; `callgate login " + upstream.name + "` writes it");
  }
  void add(std::string path, std::string message) {
    found_.push_back({.path = std::move(path), .message = std::move(message)});
  }
  void warn(std::string path, std::string message) {
    found_.push_back({.path = std::move(path), .message = std::move(message), .warning = true});
  }
  std::vector<Mistake> take() { return std::move(found_); }

 private:
  std::vector<Mistake> found_;
};

}  // namespace

std::vector<Mistake> find_missing_files(const Config& config) {
  Files files;
  for (const std::string& listen : config.listen) {
    if (listen.starts_with("unix:")) files.folder_of("listen", listen.substr(5));
  }
  files.tls(config.tls);
  files.store(config.store);
  files.readable("otlp.ca_file", config.otlp.ca_file);
  if (!config.capture.dir.empty() && !fs::is_directory(config.capture.dir)) {
    files.add("capture.dir", config.capture.dir + ": there is no such folder");
  }
  for (std::size_t i = 0; i < config.tools.size(); ++i) {
    const ToolTable& tool = config.tools[i];
    const auto key = [&](std::string_view name) {
      return tool.skill.empty() ? path_of("tool", i, name) : std::string("loop.skills");
    };
    files.readable(key("ca_file"), tool.ca_file);
    files.folder(key("folder"), tool.folder);
    files.program(key("command"), tool.command, tool.folder);
    files.sandbox(key("sandbox"), tool);
  }
  for (std::size_t i = 0; i < config.hooks.size(); ++i) {
    files.readable(path_of("hook", i, "ca_file"), config.hooks[i].ca_file);
  }
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const UpstreamConfig& upstream = config.upstreams[i];
    files.readable(path_of("upstream", i, "ca_file"), upstream.ca_file);
    files.key_file(upstream, i);
    files.folder(path_of("upstream", i, "cwd"), upstream.cwd);
    if (upstream.is_child()) files.program(path_of("upstream", i, "command"), upstream.command);
    if (upstream.url.starts_with("script:") && upstream.url.size() > 7) {
      files.readable(path_of("upstream", i, "url"), upstream.url.substr(7));
    }
  }
  return files.take();
}

}  // namespace callgate::server
