#include "mock/demo.h"

#include <algorithm>

#include "callgate/dialect.h"
#include "dialect/render/render.h"
#include "script/reply/reply_encoder.h"

namespace callgate::server {

namespace {

// A model whose tools the gateway runs: it asks what time it is, and tells.
void add_loop_demo(Config& config) {
  if (config.find_model("demo-loop") != nullptr) return;
  ToolTable clock;
  clock.name = "demo_clock";
  clock.kind = "builtin";
  clock.description = "Gives the current date and time.";
  clock.parameters.members.push_back({.name = "type", .value = {R"("object")"}});
  const auto same = [&](const ToolTable& tool) { return tool.name == clock.name; };
  if (std::any_of(config.tools.begin(), config.tools.end(), same)) return;
  ModelConfig model;
  model.name = "demo-loop";
  model.upstream = {"demo"};
  model.loop = true;
  model.loop_tools = {clock.name};
  config.tools.push_back(std::move(clock));
  config.models.push_back(std::move(model));
}

}  // namespace

void add_demo(Config& config) {
  UpstreamConfig upstream;
  upstream.name = "demo";
  upstream.wire = "script";
  if (config.find_upstream(upstream.name) == nullptr) config.upstreams.push_back(upstream);
  const auto add_model = [&](std::string name, std::string_view dialect,
                             const std::string& from = "demo", std::string_view tools = "native") {
    if (config.find_model(name) != nullptr) return;
    ModelConfig model;
    model.name = std::move(name);
    model.upstream = {from};
    model.dialect = dialect;
    model.tools = tools;
    config.models.push_back(std::move(model));
  };
  add_model("demo-text", "");
  add_model("demo-tools", "");
  add_loop_demo(config);
  // One model per wire format that the model inside the process can write.
  for (const script::ReplyFormat* format : script::reply_formats()) {
    UpstreamConfig spoken;
    spoken.name = "demo-" + std::string(format->name);
    spoken.wire = format->name;
    spoken.url = "script:";
    if (spoken.wire == "openai_chat" || spoken.wire.starts_with("codex_")) continue;
    if (config.find_upstream(spoken.name) == nullptr) config.upstreams.push_back(spoken);
    // The web chat knows no tools: they are in the prompt, and its models write calls as text.
    const bool chat = spoken.wire == "qwen_web";
    add_model(spoken.name, chat ? "generic_xml" : "", spoken.name, chat ? "prompt" : "native");
  }
  for (const Dialect* dialect : dialect::all()) {
    if (!dialect::writes_calls_as_text(dialect->name)) continue;
    add_model("demo-" + std::string(dialect->name), dialect->name);
  }
}

void add_codex_demo(Config& config, const std::string& program) {
  for (const char* wire : {"codex_app_server", "codex_proto"}) {
    UpstreamConfig upstream;
    upstream.name = std::string("demo-") + wire;
    upstream.wire = wire;
    upstream.command = {program, "mock", "--stdio", wire};
    if (config.find_upstream(upstream.name) == nullptr) config.upstreams.push_back(upstream);
    if (config.find_model(upstream.name) != nullptr) continue;
    ModelConfig model;
    model.name = upstream.name;
    model.upstream = {upstream.name};
    config.models.push_back(std::move(model));
  }
}

std::string demo_greeting(std::string_view base_url) {
  const auto curl = [&](std::string_view path, std::string_view body) {
    return "curl -N " + std::string(base_url) + std::string(path) +
           " -H 'content-type: application/json' -d '" + std::string(body) + "'\n\n";
  };
  constexpr std::string_view kSchema =
      R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})";
  const std::string tool = R"("name":"get_weather","parameters":)" + std::string(kSchema);
  return "\nOpen " + std::string(base_url) +
         "/ in a browser to watch. Try it in another terminal:\n\n" +
         curl(
             "/v1/chat/completions",
             R"({"model":"demo-tools","stream":true,"messages":[{"role":"user",)"
             R"("content":"What is the weather in Paris?"}],"tools":[{"type":"function","function":{)" +
                 tool + "}}]}") +
         "the same as Responses:\n\n" +
         curl("/v1/responses",
              R"({"model":"demo-tools","stream":true,"input":"What is the weather in Paris?",)"
              R"("tools":[{"type":"function",)" +
                  tool + "}]}") +
         "or as Messages:\n\n" +
         curl("/v1/messages",
              R"({"model":"demo-tools","stream":true,"max_tokens":1024,"messages":[{"role":"user",)"
              R"("content":"What is the weather in Paris?"}],"tools":[{"name":"get_weather",)"
              R"("input_schema":)" +
                  std::string(kSchema) + "}]}") +
         "or let the gateway run the tool:\n\n" +
         curl("/v1/chat/completions",
              R"({"model":"demo-loop","stream":true,"callgate":{"show_tool_calls":true},)"
              R"("messages":[{"role":"user","content":"What time is it?"}]})") +
         "Models: " + std::string(base_url) +
         "/v1/models, metrics: /metrics, requests: callgate log tail. "
         "Ctrl-C stops.\n";
}

}  // namespace callgate::server
