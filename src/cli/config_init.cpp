#include "cli/config_init.h"

#include "cli/probe.h"
#include "json/writer.h"

namespace callgate::cli {
namespace {

constexpr server::Milliseconds kPatience{500};
constexpr std::size_t kShownModels = 10;

std::string toml_string(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out;
}

}  // namespace

const std::vector<KnownServer>& known_servers() {
  static const std::vector<KnownServer> servers{
      {"vllm", "vLLM", "openai_chat", "http://127.0.0.1:8000/v1"},
      {"sglang", "SGLang", "openai_chat", "http://127.0.0.1:30000/v1"},
      {"ollama", "Ollama", "ollama", "http://127.0.0.1:11434"},
      {"lm_studio", "LM Studio", "openai_chat", "http://127.0.0.1:1234/v1"},
      {"llama_cpp", "llama.cpp", "openai_chat", "http://127.0.0.1:8081/v1"},
  };
  return servers;
}

std::optional<FoundServer> find_server() {
  for (const KnownServer& server : known_servers()) {
    server::UpstreamConfig upstream;
    upstream.name = "local";
    upstream.wire = server.wire;
    upstream.url = server.url;
    const auto models = probe_upstream(upstream, kPatience);
    if (!models) continue;
    FoundServer found{.server = server, .url = std::string(server.url), .models = {}};
    for (const auto& model : *models) found.models.push_back(model.id);
    return found;
  }
  return std::nullopt;
}

std::string print_initial_config(const FoundServer& found, bool is_there) {
  std::string out =
      "# Callgate's configuration; docs/config.md lists every key.\n"
      "# Check it with `callgate config check`, start it with `callgate serve`.\n\n";
  out += "listen = \"127.0.0.1:8080\"\n\n";
  out += is_there ? "# " + std::string(found.server.title) + " answers here.\n"
                  : "# Nothing answered on this machine: put the URL of your model server here.\n";
  out += "[[upstream]]\nname = \"local\"\n";
  if (found.server.wire != "openai_chat") out += "wire = " + toml_string(found.server.wire) + "\n";
  out += "url = " + toml_string(found.url) + "\n";
  out += "server = " + toml_string(found.server.kind) + "\n";
  out += "models = [\"*\"]   # serve everything that it lists\n";
  for (std::size_t i = 0; i < found.models.size() && i < kShownModels; ++i) {
    out += (i == 0 ? "# Now: " : "#      ") + toml_string(found.models[i]) + "\n";
  }
  out +=
      "# key = \"${UPSTREAM_KEY}\"\n\n"
      "# Settings for all models, or for those that fit a pattern.\n"
      "# [[model]]\n# name = \"*\"\n"
      "# tools = \"text\"   # for servers that were started without a parser for tool calls\n\n"
      "# Clients need no key on this machine. To listen elsewhere, add keys:\n"
      "# [[key]]\n# name = \"me\"\n# secret = \"${CALLGATE_KEY}\"\n# admin = true\n\n"
      "# Requests and answers are stored for 30 days in callgate.db.\n"
      "[store]\n"
      "# content = false   # store who, when and how much only\n"
      "# url = \"none\"      # store nothing\n";
  return out;
}

}  // namespace callgate::cli
